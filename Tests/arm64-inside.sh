#!/bin/sh
# Runs inside the root of arm64.sh. usage: arm64-inside.sh NAMES_OF_TESTS
set -eu
export HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 CC=aarch64-linux-gnu-cc
unset BERTQA_SKIPPED PKG_CONFIG_LIBDIR
cd "$(dirname "$0")/.."
# All but those of headers and symbols, which are the same as of x86-64; of limits of address space, to which an emulator does
# not hold the program; of the time between polls, which an emulator stretches unevenly; and of max_bytes, whose calls of large
# models take hours under emulation.
tests=${1:-$(cd Tests/c && ls ./*_test.c | sed 's|./||; s|\.c$||' |
  grep -vx -e kernels_test -e header_test -e address_space_test -e poll_test -e max_bytes_test) examples}
# shellcheck disable=SC2086 # a list
Tests/c/run.sh $tests
