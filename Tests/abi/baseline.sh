#!/bin/sh
# Writes the ABI that a header declares, as abidiff reads it.
# usage: baseline.sh [HEADER] OUTPUT.abi   (and OUTPUT.suppr beside it)
set -eu
here=$(dirname "$0")
header=$here/../../include/bertqa.h
if [ $# = 2 ]; then
  header=$1
  shift
fi
output=${1%.abi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
"${PYTHON:-python3}" "$here/shim.py" "$header" "$work/shim.c" "$work/shim.suppr"
(cd "$work" && "${CC:-cc}" -g -w -shared -fPIC -o shim.so shim.c) # no path of this machine
abidw --type-id-style hash --no-corpus-path --no-comp-dir-path --no-show-locs --no-architecture "$work/shim.so" > "$output.abi"
cp "$work/shim.suppr" "$output.suppr"
