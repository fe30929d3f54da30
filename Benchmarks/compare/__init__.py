"""libbertqa and its peers, measured in turn on the same inputs in one run: `make bench`."""
