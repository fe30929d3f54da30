#!/bin/sh
# Loads tiny models and answers under valgrind's memcheck, on the portable kernels and on those for the CPU that
# valgrind plays, which has no AVX-512.
# Environment: BERTQA_PREFIX (default: build/ of this checkout), CC. Succeeds, saying why, where there is no valgrind.
set -eu
cd "$(dirname "$0")/../.."
export BERTQA_PREFIX="${BERTQA_PREFIX:-$PWD/build}"
command -v valgrind > /dev/null || { echo "memcheck: needs valgrind" | Tests/skipped.sh memcheck; exit 0; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
Tests/c/valgrind/build.sh answer "$out"
export LD_LIBRARY_PATH="$out"
fixtures=Tests/BertQACoreTests/Fixtures
for isa in 1 0; do # portable; what valgrind's CPU has
  valgrind -q --error-exitcode=9 --track-origins=yes --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite "$out/answer" $fixtures/tiny-bert $isa $fixtures/tiny-bert-classifier \
    $fixtures/tiny-bert-embedder $fixtures/tiny-distilbert $fixtures/tiny-lstm
done
echo "valgrind: no error"
