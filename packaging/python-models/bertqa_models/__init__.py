"""Models that the package bertqa finds next to itself. There is nothing to import."""
