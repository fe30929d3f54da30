#!/bin/sh
# Makes the library as an archive, with Swift's runtime in it: `g++ program.cc libbertqa.a` is all that linking takes.
# usage: static.sh PRODUCTS OUTPUT SWIFTC [OPTION]...
# PRODUCTS: where SwiftPM has built the product `bertqa`, with this SWIFTC, which knows where its runtime lies.
#
# All objects become one, of which only the names of the C ABI stay visible: those of the library's C++ are not a program's.
# For programs in Swift there is the shared library: two runtimes in one file would read each other's tables of types.
set -eu
products=$1
output=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list=$products/bertqa.product/Objects.LinkFileList
architecture=$("$(dirname "$0")/architecture.sh" "$products/libbertqa.so")
prefix=
[ "$architecture" = "$(uname -m)" ] || prefix=$architecture-linux-gnu-

runtime=$("$@" -print-target-info -static-stdlib | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/linux
# What the objects of Swift say that they need of it, and what that needs.
# shellcheck disable=SC2016 # readelf's quotes
libraries=$({ echo -lswiftCore -ldispatch -lBlocksRuntime; xargs -a "$list" readelf -p .swift1_autolink_entries; } 2> /dev/null |
  grep -o '\-l[A-Za-z_]*' | sort -u | while read -r library; do
  [ ! -e "$runtime/lib${library#-l}.a" ] || echo "$library"
done)
# shellcheck disable=SC2086 # a list
"${prefix}ld" -r -o "$work/all.o" "$runtime/$architecture/swiftrt.o" "@$list" -L"$runtime" --start-group $libraries --end-group
# .swift_modhash differs with the directory of the build, and nothing reads it.
"${prefix}objcopy" --wildcard --keep-global-symbol='bertqa_*' --remove-section=.swift_modhash "$work/all.o"
"${prefix}strip" --strip-unneeded "$work/all.o"
mkdir -p "$(dirname "$output")"
rm -f "$output"
(cd "$work" && mv all.o bertqa.o && ar rcsD libbertqa.a bertqa.o)
install -m 644 "$work/libbertqa.a" "$output"
