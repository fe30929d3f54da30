#!/bin/sh
# Prints the architecture of an ELF file as the kernel and Python's wheels call it: x86_64 or aarch64. What is packaged
# decides the names of packages, not the machine on which that is done.
# usage: architecture.sh FILE
set -eu
# The number stands at byte 18, in the file's byte order, which is little-endian on both.
machine=$(od -An -tu2 -j18 -N2 "$1" | tr -d ' ')
case $machine in
  62) echo x86_64 ;;
  183) echo aarch64 ;;
  *)
    echo "architecture.sh: $1: ELF machine $machine, neither x86-64 (62) nor arm64 (183)" >&2
    exit 1
    ;;
esac
