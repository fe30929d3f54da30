#!/bin/sh
# Creates the root of a minimal Debian with some packages in a directory, for chroot. An existing root is
# complete.
# usage: debian-root.sh SUITE ARCHITECTURE DIRECTORY ARGUMENT...
# ARCHITECTURE: Debian's name, such as amd64 or arm64. ARGUMENT: a package, or an option of apt-get install.
# Environment: DEBIAN_MIRROR (default: debootstrap's). Needs root, debootstrap and, for the programs of
# another architecture, an emulator that the kernel knows (qemu-user-static).
set -eu
if [ $# -lt 4 ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
suite=$1
architecture=$2
root=$3
shift 3
if [ -e "$root" ]; then
  echo "$root is there already" >&2
  exit 1
fi
mkdir -p "$(dirname "$root")"
partial=$(mktemp -d "$root.partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck disable=SC2086 # none, or one word
debootstrap --variant=minbase --arch="$architecture" "$suite" "$partial" ${DEBIAN_MIRROR:-}
# Answer questions with their defaults: Debian's Swift asks if it may own /usr/bin/swift.
DEBIAN_FRONTEND=noninteractive chroot "$partial" apt-get install -qy "$@"
rm -rf "$partial"/var/cache/apt/archives/*.deb
chmod 755 "$partial"
mv "$partial" "$root"
trap - EXIT
