#!/bin/sh
# Makes a Debian package of a directory that is laid out as it installs.
# usage: deb-build.sh ROOT CONTROL OUTPUT_DIRECTORY ELF_FILE...
# CONTROL: the template of its control file; @DEPENDS@ becomes what the ELF files need, and @NAME@ of other names what
# deb.sh and its like say. ROOT/DEBIAN may have other files already.
set -eu
root=$1
control=$2
output=$3
shift 3
here=$(dirname "$0")
number() { sed -n "s/^#define BERTQA_$1 //p" "$here/../include/bertqa.h"; }
version=$(number VERSION_MAJOR).$(number VERSION_MINOR).$(number VERSION_PATCH)
case $("$here/architecture.sh" "$1") in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
esac
# What the binaries need, in the versions that have the symbols they use.
depends=$("$here/dependencies.sh" "$@")
# In KiB, each file rounded up and 1 for anything else, as Debian's own tools count: the same on any file system.
size=$(find "$root/usr" -type f -printf '%s\n' -o -printf '1\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
mkdir -p "$root/DEBIAN" "$output"
sed -e "s/@VERSION@/$version/g" -e "s/@ABI@/$(number ABI_VERSION)/g" -e "s/@DEPENDS@/$depends/" \
  -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" -e "s/@SERVER@/${SERVER:-}/g" "$control" > "$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
chmod -R u+rwX,go+rX,go-w "$root"
rm -f "$output/$(sed -n 's/^Package: //p' "$root/DEBIAN/control")"_*_$architecture.deb
# gzip: xz takes nine times as long for 3 % less, as most of it are weights.
dpkg-deb --root-owner-group -Zgzip --build "$root" "$output"
