#!/bin/sh
# Makes a directory the root of a Debian 13, for chroot, with the packages that README.md names for a build there, and
# no others.
# usage: debian-root.sh ARCHITECTURE DIRECTORY    ARCHITECTURE as Debian names it: amd64, arm64
# Environment: DEBIAN_MIRROR (default: debootstrap's). Needs root, debootstrap, and for the programs of another
# architecture than this machine's an emulator that the kernel knows (qemu-user-static).
set -eu
if [ $# != 2 ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
fi
root=$2
if [ -e "$root/etc/debian_version" ]; then
  echo "$root has a system already" >&2
  exit 1
fi
# shellcheck disable=SC2086 # none, or one word
debootstrap --variant=minbase --arch="$1" trixie "$root" ${DEBIAN_MIRROR:-}
# The package's only question is whether /usr/bin/swift may be its own: the answer is yes unless another has it.
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -qy swiftlang make g++
