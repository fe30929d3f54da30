#!/bin/sh
# Builds and runs million.c, with unchecked.c preloaded. Arguments: parts of the names of what to run instead of all.
# Environment: BERTQA_PREFIX (default: build/), CC.
set -eu
cd "$(dirname "$0")/../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -I"$prefix/include" -o "$out/million" Tests/c/million.c \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lbertqa -pthread -lm
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -shared -fPIC -o "$out/unchecked.so" Tests/c/unchecked.c -ldl
code=0
UNCHECKED_OUT=$out/unchecked LD_PRELOAD=$out/unchecked.so "$out/million" "$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert" "$@" ||
  code=$?
if [ -e "$out/unchecked" ]; then
  echo "memory taken without a check; addr2line -e .build/release/libbertqa.so names the places:"
  sort "$out/unchecked" | uniq -c | head -n 20
  code=1
fi
exit $code
