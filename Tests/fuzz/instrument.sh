#!/bin/sh
# Compiles the whole library to object files with sanitizers, for programs that link them: fuzz targets and C
# tests. instrument.sh address DIRECTORY: AddressSanitizer, and UndefinedBehaviorSanitizer in C, and coverage
# for libFuzzer. instrument.sh thread DIRECTORY: ThreadSanitizer. Nothing is done where nothing is newer.
set -eu
cd "$(dirname "$0")/../.."
kind=$1
objects=$2
mkdir -p "$(dirname "$objects")"
exec 9> "$objects.lock"
flock 9 # the fuzz targets and the C tests have the same objects
# A directory is newer if a file was removed from it.
[ ! -e "$objects/done" ] || [ -n "$(find Sources/BertQACore Sources/CBertQA Sources/CBertQAHeader Sources/libbertqa include Tests/fuzz/instrument.sh \
  -newer "$objects/done" -print -quit)" ] || exit 0
case $kind in
  address)
    c="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
    swift=-sanitize=fuzzer,address
    ;;
  thread)
    c=-fsanitize=thread
    swift=-sanitize=thread
    ;;
esac
rm -rf "$objects"
mkdir -p "$objects/c" "$objects/programs"
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
for source in $(find Sources/CBertQA Sources/CBertQAHeader -name '*.c'); do
  # shellcheck disable=SC2086
  "$clang" -g -O1 -ffp-contract=off $c -ISources/CBertQA/include -c "$source" \
    -o "$objects/c/$(echo "$source" | tr / _).o"
done
compile="swiftc -g -O -wmo -parse-as-library -swift-version 6 -package-name bertqa $swift -ISources/CBertQA/include
  -ISources/CBertQAHeader -I$objects"
# shellcheck disable=SC2086,SC2046
{
  $compile -module-name BertQACore -emit-module -emit-module-path "$objects/BertQACore.swiftmodule" -c \
    $(find Sources/BertQACore -name '*.swift') -o "$objects/c/BertQACore.o"
  $compile -module-name libbertqa -c $(find Sources/libbertqa -name '*.swift') -o "$objects/c/libbertqa.o"
}
touch "$objects/done"
