#!/bin/sh
# Runs a script of the sources that debian-sources.sh has put into a Debian root, in that root, with /proc.
# usage: debian-run.sh ROOT SCRIPT [ARGUMENT]...
set -eu
root=$1
shift
# Mounts in a namespace of their own end with it.
# shellcheck disable=SC2016 # for the inner shell
exec unshare --mount sh -c 'root=$1 script=$2; shift 2
  mount -t proc proc "$root/proc" && exec chroot "$root" sh "/root/libbertqa/$script" "$@"' sh "$root" "$@"
