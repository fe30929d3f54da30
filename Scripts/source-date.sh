#!/bin/sh
# Prints the time of packaged files in seconds since 1970: SOURCE_DATE_EPOCH, else the time of git's last commit or, in
# an unpacked tarball of `make dist`, that of its files.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
  echo "$SOURCE_DATE_EPOCH"
elif [ -e .git ]; then
  git log -1 --format=%ct
else
  stat -c %Y Package.swift
fi
