#!/bin/sh
# Checks that every function of the headers is defined with the type that it is declared with. For functions in Swift, a
# program compares the type that the C declaration has in Swift with the type of the definition in Sources/libbertqa:
# @_cdecl gives only a name. The C compiler compares those of Sources/CBertQAHeader.
# usage: signatures.sh
# Environment: BERTQA_MODULES (default: those that make has built), SWIFTC.
set -eu
cd "$(dirname "$0")/../.."
modules=${BERTQA_MODULES:-$PWD/.build/release/Modules}
if [ ! -e "$modules/libbertqa.swiftmodule" ]; then
  echo "no module in $modules: run make" >&2
  exit 1
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

# The linker's name is the function's name, by which the header's declaration is found.
grep -rhA 1 '@_cdecl' Sources/libbertqa | tr '\n' ' ' | grep -oE '@_cdecl\("[a-z0-9_]+"\) public func [a-z0-9_]+' |
  sed 's/@_cdecl("\(.*\)") public func \(.*\)/\1 \2/' | LC_ALL=C sort > "$out/defined"
if ! awk '$1 != $2 { print "@_cdecl(\"" $1 "\") precedes func " $2; wrong = 1 } END { exit wrong }' "$out/defined"; then
  exit 1
fi
"${CC:-cc}" -E -P include/bertqa_experimental.h | grep -oE 'bertqa_[a-z0-9_]+ *\(' | tr -d ' (' | LC_ALL=C sort -u \
  > "$out/declared"
{
  cut -d ' ' -f 1 "$out/defined"
  sed -n 's/^OPTIONS_INIT(\(.*\))$/bertqa_\1_options_init/p' Sources/CBertQAHeader/options_init.c
} | LC_ALL=C sort | diff "$out/declared" - > "$out/difference" || {
  echo "the headers' functions (<) differ from those with @_cdecl or OPTIONS_INIT (>):"
  cat "$out/difference"
  exit 1
}

# Arguments that are inout are never converted: the two types must be one.
{
  echo 'import CBertQAHeader'
  echo 'import libbertqa'
  echo 'func same<T>(_ declared: inout T, _ defined: inout T) {}'
  while read -r name _; do
    echo "do { var declared = CBertQAHeader.$name, defined = libbertqa.$name; same(&declared, &defined) }"
  done < "$out/defined"
} > "$out/main.swift"
"${SWIFTC:-swiftc}" -typecheck -swift-version 6 -I "$modules" -I Sources/CBertQAHeader -I Sources/CBertQA/include \
  "$out/main.swift"
echo "$(wc -l < "$out/declared") functions have the types that the headers declare"
