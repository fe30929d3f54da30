#!/bin/sh
# Makes a static library that includes Swift's runtime: `g++ program.cc libbertqa.a` links a program.
# usage: static.sh PRODUCTS OUTPUT SWIFTC [OPTION]...
# PRODUCTS: the directory of SwiftPM's product `bertqa`, built with this SWIFTC, which locates the runtime.
#
# All objects are merged into one, which exports only the names of the C ABI, so that the library's C++
# runtime does not conflict with a program's. Swift programs use the shared library: two runtimes in one file
# would read each other's type tables.
set -eu
products=$1
output=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
list=$products/bertqa.product/Objects.LinkFileList
architecture=$("$(dirname "$0")/architecture.sh" "$products/libbertqa.so")
prefix=
[ "$architecture" = "$(uname -m)" ] || prefix=$architecture-linux-gnu-

runtime=$("$@" -print-target-info -static-stdlib | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')/linux
# The libraries that Swift's objects name as dependencies, and their dependencies.
# shellcheck disable=SC2016 # readelf's quotes
libraries=$({ echo -lswiftCore -ldispatch -lBlocksRuntime; xargs -a "$list" readelf -p .swift1_autolink_entries; } 2> /dev/null |
  grep -o '\-l[A-Za-z_]*' | sort -u | while read -r library; do
  [ ! -e "$runtime/lib${library#-l}.a" ] || echo "$library"
done)
# shellcheck disable=SC2086 # a list
"${prefix}ld" -r -o "$work/own.o" "$runtime/$architecture/swiftrt.o" "@$list" -L"$runtime" --start-group $libraries --end-group
# As --wrap=environ in Package.swift, with which binutils 2.40 crashes here.
"${prefix}objcopy" --redefine-sym environ=__wrap_environ "$work/own.o"
"${prefix}ld" -r -o "$work/all.o" "$work/own.o"
# .swift_modhash depends on the build directory and has no reader.
"${prefix}objcopy" --wildcard --keep-global-symbol='bertqa_*' --remove-section=.swift_modhash "$work/all.o"
"${prefix}strip" --strip-unneeded "$work/all.o"
mkdir -p "$(dirname "$output")"
rm -f "$output"
(cd "$work" && mv all.o bertqa.o && ar rcsD libbertqa.a bertqa.o)
install -m 644 "$work/libbertqa.a" "$output"
