#!/bin/sh
# Puts the sources, as they are now, into a Debian root. What an earlier run has built there in .build stays: the next build
# goes on from it.
# usage: debian-sources.sh ROOT
# Prints the directory, which is /root/libbertqa of the root.
set -eu
cd "$(dirname "$0")/.."
sources=$1/root/libbertqa
mkdir -p "$sources"
find "$sources" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
tar -xf "$(Scripts/dist.sh "$out")" -C "$sources" --strip-components=1
echo "$sources"
