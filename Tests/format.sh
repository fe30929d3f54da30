#!/bin/sh
# Checks the C code's format against .clang-format; `Tests/format.sh -i` corrects it. The public header
# is not covered: its comments are laid out by hand.
set -eu
cd "$(dirname "$0")/.."
check="--dry-run -Werror"
[ "${1:-}" != -i ] || check=-i

for format in "${CLANG_FORMAT:-clang-format}" clang-format-19 clang-format-14; do
  command -v "$format" >/dev/null 2>&1 && break
  format=
done
if [ -z "$format" ]; then
  echo "C format: skipped (needs clang-format)"
  exit 0
fi
# shellcheck disable=SC2086 # options
find Sources Benchmarks Tests/CTestSupport \( -name '*.c' -o -name '*.h' \) -exec "$format" $check {} +
