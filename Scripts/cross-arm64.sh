#!/bin/sh
# Builds the library and the tool for arm64 on x86-64 and stages them, laid out as they install: by Debian 13's Swift, with
# the standard library that Debian's arm64 package of the same version has.
# usage: cross-arm64.sh ROOT STAGE
# ROOT: a directory for a Debian 13, which is made where there is none. What is built in it stays for the next time.
# Environment: what Scripts/debian-root.sh reads. Needs root and debootstrap.
set -eu
cd "$(dirname "$0")/.."
root=$(realpath -m "$1")
stage=$(realpath -m "$2")
[ -e "$root" ] || Scripts/debian-root.sh trixie amd64 "$root" swiftlang make g++ pkg-config

sources=$(Scripts/debian-sources.sh "$root")
Scripts/debian-run.sh "$root" Scripts/cross-arm64-inside.sh
rm -rf "$stage"
mkdir -p "$(dirname "$stage")"
cp -R "$sources/build" "$stage"
