#!/bin/sh
# Builds the library of faults and its test, and runs it. Environment: BERTQA_PREFIX (default: build/), CC.
set -eu
cd "$(dirname "$0")/../../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -fPIC -shared -o "$out/faults.so" Tests/c/faults/faults.c -ldl
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -I"$prefix/include" -o "$out/faults_test" \
  Tests/c/faults/faults_test.c -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lbertqa -pthread -lm -ldl
LD_PRELOAD="$out/faults.so" "$out/faults_test" "$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert"
