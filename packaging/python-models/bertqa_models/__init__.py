"""Models that the package bertqa finds beside itself; there is nothing to import."""
