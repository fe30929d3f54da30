#!/bin/sh
# Builds the library and the tool for arm64 on x86-64 and stages them in their installed layout. It uses
# Debian 13's Swift with the standard library of Debian's arm64 package of the same version.
# usage: cross-arm64.sh ROOT STAGE
# ROOT: a directory for a Debian 13, which is created if absent. Its build results are kept for the next run.
# Environment: the variables of Scripts/debian-root.sh. Needs root and debootstrap.
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
