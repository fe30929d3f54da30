#!/bin/sh
# Builds the program NAME.c of this directory in the directory OUT, and puts the library beside it.
# Arguments: NAME OUT. Environment: BERTQA_PREFIX, CC.
set -eu
"${CC:-cc}" -std=c99 -g -O1 -Wall -Wextra -Werror -I"$BERTQA_PREFIX/include" "$(dirname "$0")/$1.c" \
  -L"$BERTQA_PREFIX/lib" -lbertqa -o "$2/$1"
# Without debug information, which valgrind 3.19 cannot read where the Swift compiler wrote it.
cp "$BERTQA_PREFIX/lib/libbertqa.so" "$2/libbertqa.so.1"
strip --strip-debug "$2/libbertqa.so.1"
