#!/bin/sh
# Prints the architecture of an ELF file as the kernel and Python's wheels name it: x86_64 or aarch64. Package
# names use the architecture of the packaged file, not of the build machine.
# usage: architecture.sh FILE
set -eu
# The machine number is at byte 18 in the file's byte order, which is little-endian on both architectures.
machine=$(od -An -tu2 -j18 -N2 "$1" | tr -d ' ')
case $machine in
  62) echo x86_64 ;;
  183) echo aarch64 ;;
  *)
    echo "architecture.sh: $1: ELF machine $machine, neither x86-64 (62) nor arm64 (183)" >&2
    exit 1
    ;;
esac
