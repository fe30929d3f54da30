#!/bin/sh
# Installs a linked binary, stripped, with the same bytes wherever it was built.
# usage: install-binary.sh FROM TO
#
# Swift's compiler stores in .swift_modhash, for its next run, a hash of each object's compilation, including
# paths; the linker hashes that into the build ID. The script zeroes the section and then sets the build ID to
# a hash of the file.
#
# Swift's compiler also exports functions as protected. Linkers then refuse a program that takes a function's address
# and is not position-independent, and glibc warns of it. The script gives them the default visibility. The library's
# own calls are bound already.
set -eu
architecture=$("$(dirname "$0")/architecture.sh" "$1")
strip=strip
[ "$architecture" = "$(uname -m)" ] || strip=$architecture-linux-gnu-strip
file=$2.new # an interrupted run leaves no half of a binary at its place
install -m 755 -s --strip-program="$strip" "$1" "$file"
# Not in a pipe, so that a failure ends the script.
sections=$(readelf --section-headers --wide "$file")
symbols=$(readelf --dyn-syms --wide "$file")

place() { # place SECTION: prints its file offset and size in hexadecimal, or nothing if absent
  echo "$sections" |
    sed -n "s/.* $(echo "$1" | sed 's/\./\\./g') *[A-Z_0-9]* *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p"
}

put() { # put OFFSET SIZE: copies from standard input
  dd of="$file" bs=1 seek=$(($1)) count=$(($2)) conv=notrunc status=none
}

to=$2
# shellcheck disable=SC2046 # two words
set -- $(place .dynsym)
# The visibility is in the byte at 5 of a symbol's 24.
for symbol in $([ $# = 0 ] || echo "$symbols" | sed -n 's/^ *\([0-9]*\):.* PROTECTED .*/\1/p'); do
  printf '\0' | put $(($1 + 24 * symbol + 5)) 1
done
# shellcheck disable=SC2046 # two words
set -- $(place .swift_modhash)
[ $# = 0 ] || put "$1" "$2" < /dev/zero
# shellcheck disable=SC2046
set -- $(place .note.gnu.build-id)
if [ $# != 0 ]; then
  # After the note's header of 16 bytes.
  id=$(($1 + 16))
  size=$(($2 - 16))
  put $id $size < /dev/zero
  for byte in $(sha1sum < "$file" | cut -c -$((2 * size)) | sed 's/../& /g'); do
    # shellcheck disable=SC2059 # of sh, only printf's octal escapes are portable
    printf "\\$(printf '%03o' "0x$byte")"
  done | put $id $size
fi
mv "$file" "$to"
