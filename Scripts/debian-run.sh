#!/bin/sh
# Runs a script of the sources in a Debian root, where debian-sources.sh has put them, with /proc mounted.
# usage: debian-run.sh ROOT SCRIPT [ARGUMENT]...
set -eu
root=$1
shift
# A private mount namespace removes its mounts when it ends.
# shellcheck disable=SC2016 # for the inner shell
exec unshare --mount sh -c 'root=$1 script=$2; shift 2
  mount -t proc proc "$root/proc" && exec chroot "$root" sh "/root/libbertqa/$script" "$@"' sh "$root" "$@"
