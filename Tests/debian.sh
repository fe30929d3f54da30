#!/bin/sh
# Builds the sources in a root of Debian 13, with Debian's Swift, runs the demo, the tests in C and Swift, but none in
# Python, and the SQL extensions. Makes the root first, where there is none.
# usage: debian.sh DIRECTORY
# Environment: DEBIAN_ARCHITECTURE (default: this machine's), and what Scripts/debian-root.sh reads.
set -eu
cd "$(dirname "$0")/.."
root=$(realpath -m "$1")
skip() {
  echo "Debian 13: $1" | Tests/skipped.sh debian
  exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root"
if [ ! -e "$root" ]; then
  command -v debootstrap > /dev/null || skip "needs debootstrap, or a root in $root"
  # The packages that docs/packaging.md names, and no others.
  Scripts/debian-root.sh trixie "${DEBIAN_ARCHITECTURE:-$(dpkg --print-architecture)}" "$root" swiftlang make g++
fi

Scripts/debian-sources.sh "$root"
Scripts/debian-run.sh "$root" Tests/debian-inside.sh
