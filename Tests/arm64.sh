#!/bin/sh
# Builds for arm64 in a root of Debian 13 (Scripts/cross-arm64.sh) and tries what came of it under emulation: the C tests and
# examples in the root, and the tool's tokens and results against those of this machine's build.
# usage: arm64.sh ROOT STAGE
# Environment: ARM64_TESTS, names of C tests instead of all (Tests/c/run.sh); what Scripts/debian-root.sh reads.
set -eu
cd "$(dirname "$0")/.."
skip() {
  echo "arm64: $1" | Tests/skipped.sh arm64
  exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root"
[ "$(uname -m)" = x86_64 ] || skip "is built on x86-64; here, make test does the same"
grep -qsx 'flags:.*F.*' /proc/sys/fs/binfmt_misc/qemu-aarch64 || skip "needs qemu-user-static and binfmt-support"
[ -e "$1" ] || command -v debootstrap > /dev/null || skip "needs debootstrap, or a root in $1"
root=$(realpath -m "$1")
stage=$(realpath -m "$2")

Scripts/cross-arm64.sh "$root" "$stage"
export QEMU_LD_PREFIX="$root"
"$stage/bin/bertqa" answer --question "Who jumped over the dog?" examples/documents/fox.txt
"${PYTHON:-python3}" Tests/arm64.py build/bin/bertqa "$stage/bin/bertqa"
Scripts/debian-run.sh "$root" Tests/arm64-inside.sh "${ARM64_TESTS:-}"
