#!/bin/sh
# Makes a Debian package of what `make` has built, for this machine's architecture and release.
# usage: deb.sh OUTPUT_DIRECTORY
#
# One package, not three: the tool, the library and its development files are of one version, small beside the
# default models that they share, and this one is installed from a file. It provides what three would be called.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/debian/bertqa
number() { sed -n "s/^#define BERTQA_$1 //p" include/bertqa.h; }
abi=$(number ABI_VERSION)
version=$(number VERSION_MAJOR).$(number VERSION_MINOR).$(number VERSION_PATCH)
libdir=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

# The variables stand on the command line, where they outweigh those of the make that calls this.
${MAKE:-make} --no-print-directory -s install-files DESTDIR="$root" PREFIX=/usr LIBDIR="$libdir"
gzip -9n "$root"/usr/share/man/man1/*.1
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
rm "$root/usr/share/doc/bertqa/LICENSE"
chmod 644 "$root$libdir"/libbertqa.so.*.*
install -m 644 packaging/debian/copyright "$root/usr/share/doc/bertqa/"
# It needs nothing beyond the library and libc: SQLite loads it and hands over its functions.
PKG_CONFIG_PATH="$PWD/build/lib/pkgconfig" ${MAKE:-make} --no-print-directory -s -C packaging/sqlite \
  OUTPUT="$root$libdir/bertqa_sqlite.so" CFLAGS=-O2 LDFLAGS=-s
chmod 644 "$root$libdir/bertqa_sqlite.so"

# What the binaries need, in the versions that have the symbols they use.
mkdir "$root/DEBIAN"
touch "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O debian/bertqa/usr/bin/bertqa "debian/bertqa$libdir/libbertqa.so.$abi" |
  sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "deb.sh: dpkg-shlibdeps found no dependencies" >&2; exit 1; }

# In KiB, each file rounded up and 1 for anything else, as Debian's own tools count: the same on any file system.
size=$(find "$root/usr" -type f -printf '%s\n' -o -printf '1\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
sed -e "s/@VERSION@/$version/g" -e "s/@ABI@/$abi/" -e "s/@DEPENDS@/$depends/" \
  -e "s/@ARCHITECTURE@/$(dpkg-architecture -qDEB_HOST_ARCH)/" \
  -e "s/@SIZE@/$size/" packaging/debian/control.in > "$root/DEBIAN/control"
# For programs that link the library: what their own packages depend on.
echo "libbertqa $abi bertqa (>= $version)" > "$root/DEBIAN/shlibs"
echo "activate-noawait ldconfig" > "$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
chmod -R u+rwX,go+rX,go-w "$root"

mkdir -p "$output"
rm -f "$output"/bertqa_*.deb
dpkg-deb --root-owner-group --build "$root" "$output"
