#!/bin/sh
# Builds the sources in a root of Debian 13, with Debian's Swift, runs the demo and the tests in C and Swift, but none in
# Python. Makes the root first, where there is none.
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

# The sources as they are now. What an earlier run has built stays: the build goes on from there.
sources=$root/root/libbertqa
mkdir -p "$sources"
find "$sources" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
tar -xf "$(Scripts/dist.sh "$out")" -C "$sources" --strip-components=1

# Mounts in a namespace of their own end with it.
# shellcheck disable=SC2016 # for the inner shell
unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" sh -eux /root/libbertqa/Tests/debian-inside.sh' \
  sh "$root"
