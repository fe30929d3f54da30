#!/bin/sh
# Builds and runs million.c. Arguments: parts of the names of what to run instead of all. Environment: BERTQA_PREFIX
# (default: build/), CC.
set -eu
cd "$(dirname "$0")/../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -I"$prefix/include" -o "$out/million" Tests/c/million.c \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lbertqa -pthread -lm
"$out/million" "$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert" "$@"
