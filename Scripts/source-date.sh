#!/bin/sh
# Prints the time of the sources in seconds since 1970: that of git's last commit or, in an unpacked tarball
# of `make dist`, that of its files.
set -eu
cd "$(dirname "$0")/.."
if prefix=$(git rev-parse --show-prefix 2> /dev/null) && [ "$prefix" = "" ]; then
  git log -1 --format=%ct
else
  stat -c %Y Package.swift
fi
