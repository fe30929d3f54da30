#!/bin/sh
# Loads tiny models and answers under valgrind's memcheck, on the portable kernels and on those for the CPU that
# valgrind plays, which has no AVX-512.
# Environment: BERTQA_PREFIX (default: build/ of this checkout), CC. Succeeds, saying why, where there is no valgrind.
set -eu
cd "$(dirname "$0")/../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
command -v valgrind > /dev/null || { echo "skipped: valgrind is not installed"; exit 0; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${CC:-cc}" -std=c99 -g -O1 -Wall -Wextra -Werror -I"$prefix/include" Tests/c/valgrind/answer.c \
  -L"$prefix/lib" -lbertqa -o "$out/answer"
# Without debug information, which valgrind 3.19 cannot read where the Swift compiler wrote it.
cp "$prefix/lib/libbertqa.so" "$out/libbertqa.so.1"
strip --strip-debug "$out/libbertqa.so.1"
export LD_LIBRARY_PATH="$out"
fixtures=Tests/BertQACoreTests/Fixtures
for isa in 1 0; do # portable; what valgrind's CPU has
  valgrind -q --error-exitcode=9 --track-origins=yes --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite "$out/answer" $fixtures/tiny-bert $isa $fixtures/tiny-bert-classifier \
    $fixtures/tiny-bert-embedder $fixtures/tiny-distilbert $fixtures/tiny-lstm
done
echo "valgrind: no error"
