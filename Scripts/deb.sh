#!/bin/sh
# Makes a Debian package of what is staged, for the architecture of its binaries.
# usage: deb.sh OUTPUT_DIRECTORY
# Environment: BERTQA_PREFIX, the staged tree; `make sqlite` stages into build.
#
# One package, not three: the tool, the library and its development files are of one version, small beside the
# default models that they share, and this one is installed from a file. It provides what three would be called.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")/.."
stage=$(realpath "${BERTQA_PREFIX:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/bertqa
number() { sed -n "s/^#define BERTQA_$1 //p" include/bertqa.h; }
abi=$(number ABI_VERSION)
version=$(number VERSION_MAJOR).$(number VERSION_MINOR).$(number VERSION_PATCH)
machine=$(Scripts/architecture.sh "$stage/bin/bertqa")
case $machine in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
esac
libdir=/usr/lib/$machine-linux-gnu

# The variables stand on the command line, where they outweigh those of the make that calls this.
${MAKE:-make} --no-print-directory -s install-files DESTDIR="$root" PREFIX=/usr LIBDIR="$libdir" \
  from_library="$stage/lib/libbertqa.so.$abi" from_tool="$stage/bin/bertqa"
gzip -9n "$root"/usr/share/man/man1/*.1
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
rm "$root/usr/share/doc/bertqa/LICENSE"
chmod 644 "$root$libdir"/libbertqa.so.*.*
install -m 644 packaging/debian/copyright "$root/usr/share/doc/bertqa/"
Scripts/install-binary.sh "$stage/lib/bertqa_sqlite.so" "$root$libdir/bertqa_sqlite.so"
chmod 644 "$root$libdir/bertqa_sqlite.so"

mkdir "$root/DEBIAN"
# What the binaries need, in the versions that have the symbols they use.
depends=$(Scripts/dependencies.sh "$root/usr/bin/bertqa" "$root$libdir/libbertqa.so" "$root$libdir/bertqa_sqlite.so")
# In KiB, each file rounded up and 1 for anything else, as Debian's own tools count: the same on any file system.
size=$(find "$root/usr" -type f -printf '%s\n' -o -printf '1\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
sed -e "s/@VERSION@/$version/g" -e "s/@ABI@/$abi/" -e "s/@DEPENDS@/$depends/" \
  -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" packaging/debian/control.in > "$root/DEBIAN/control"
# For programs that link the library: what their own packages depend on.
echo "libbertqa $abi bertqa (>= $version)" > "$root/DEBIAN/shlibs"
echo "activate-noawait ldconfig" > "$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
chmod -R u+rwX,go+rX,go-w "$root"

mkdir -p "$output"
rm -f "$output"/bertqa_*_"$architecture".deb
# gzip: xz takes nine times as long for 3 % less, as most of it are weights.
dpkg-deb --root-owner-group -Zgzip --build "$root" "$output"
