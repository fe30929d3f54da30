#!/bin/sh
# Compiles the C half and the test of its kernels with the system's compiler and sanitizers, and, where Debian's
# musl-tools are installed, for that C library, and, with gcc-aarch64-linux-gnu and qemu-user, for arm64; runs all.
set -eu
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

build() { # compiler flags...: the test as $out/kernels_test
  # shellcheck disable=SC2046 # one word a file
  "$@" -std=gnu11 -Wall -Wextra -Werror -ffp-contract=off -ISources/CBertQA/include -Iinclude \
    Tests/c/kernels_*.c $(find Sources/CBertQA -name '*.c') -lm -o "$out/kernels_test"
}

skipped=$out/skipped
# -g1 gives reports their lines. Variables, which -g adds, take the compiler 40 % of its time.
build "${CC:-cc}" -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover
"$out/kernels_test" > "$out/log" || { cat "$out/log"; exit 1; }
cat "$out/log"
sed -n 's/^\(.*\): skipped, \(.*\)/\1: \2/p' "$out/log" > "$skipped"

if command -v musl-gcc >/dev/null; then
  build musl-gcc -O2 -static
  echo "with musl:"
  "$out/kernels_test"
else
  echo "kernels with musl: needs musl-tools" >> "$skipped"
fi

if [ "$(uname -m)" = aarch64 ]; then
  :
elif command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
  build aarch64-linux-gnu-gcc -O2 -static
  # A CPU and the instruction set that must be chosen on it.
  for cpu in max:neon_i8mm_bf16 neoverse-n1:neon_dotprod cortex-a53:neon; do
    echo "arm64, emulated ${cpu%:*}:"
    qemu-aarch64 -cpu "${cpu%:*}" "$out/kernels_test" "${cpu#*:}"
  done
else
  echo "arm64 kernels: needs gcc-aarch64-linux-gnu and qemu-user" >> "$skipped"
fi
Tests/skipped.sh kernels < "$skipped"
