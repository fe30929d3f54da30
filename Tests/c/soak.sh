#!/bin/sh
# Builds and runs soak.c. Argument: the number of calls. Environment: BERTQA_PREFIX (default: build/), CC.
set -eu
cd "$(dirname "$0")/../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -I"$prefix/include" -o "$program" Tests/c/soak.c \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lbertqa -pthread -lm
"$program" "$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert" "${1:-100000}"
