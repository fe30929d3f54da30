#!/bin/sh
# Copies the current sources into a Debian root. The .build of an earlier run is kept, so that the next build
# is incremental.
# usage: debian-sources.sh ROOT
# Prints the directory: /root/libbertqa in the root.
set -eu
cd "$(dirname "$0")/.."
sources=$1/root/libbertqa
mkdir -p "$sources"
find "$sources" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
tar -xf "$(Scripts/dist.sh "$out")" -C "$sources" --strip-components=1
echo "$sources"
