#!/bin/sh
# Makes a Debian package of a directory in the installed layout.
# usage: deb-build.sh ROOT CONTROL OUTPUT_DIRECTORY ELF_FILE...
# CONTROL: the template of its control file. @DEPENDS@ becomes the dependencies of the ELF files; the calling
# script defines the other @NAME@s. ROOT/DEBIAN may already contain other files.
set -eu
root=$1
control=$2
output=$3
shift 3
here=$(dirname "$0")
version=$("$here/version.sh")
case $("$here/architecture.sh" "$1") in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
esac
# The dependencies of the binaries, in the versions with the symbols that they use.
depends=$("$here/dependencies.sh" "$@")
# In KiB, with each file rounded up and 1 for anything else, like Debian's own tools: the result is the same
# on any file system.
size=$(find "$root/usr" -type f -printf '%s\n' -o -printf '1\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
mkdir -p "$root/DEBIAN" "$output"
sed -e "s/@VERSION@/$version/g" -e "s/@ABI@/$("$here/version.sh" ABI_VERSION)/g" -e "s/@DEPENDS@/$depends/" \
  -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" -e "s/@SERVER@/${SERVER:-}/g" "$control" > "$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
chmod -R u+rwX,go+rX,go-w "$root"
rm -f "$output/$(sed -n 's/^Package: //p' "$root/DEBIAN/control")"_*_$architecture.deb
# gzip, because xz takes nine times as long for 3 % less: most of the package is weights.
dpkg-deb --root-owner-group -Zgzip --build "$root" "$output"
