#!/bin/sh
# Makes a Debian package of the staged tree, for the architecture of its binaries.
# usage: deb.sh OUTPUT_DIRECTORY
# Environment: BERTQA_PREFIX, the staged tree; `make sqlite` stages into build.
#
# It is one package rather than three: the tool, the library and its development files have the same version,
# are small compared with the default models that they share, and are installed from one file. The package
# provides the names of the three.
set -eu
. "$(dirname "$0")/staged.sh"
root=$work/bertqa
libdir=/usr/lib/$machine-linux-gnu

# Variables on the command line take precedence over those of the calling make.
${MAKE:-make} --no-print-directory -s install-files DESTDIR="$root" PREFIX=/usr LIBDIR="$libdir" \
  from_library="$stage/lib/libbertqa.so.$abi" from_tool="$stage/bin/bertqa"
gzip -9n "$root"/usr/share/man/man1/*.1
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
ln -sf ../../common-licenses/Apache-2.0 "$root/usr/share/doc/bertqa/LICENSE"
chmod 644 "$root$libdir"/libbertqa.so.*.*
install -m 644 packaging/debian/copyright "$root/usr/share/doc/bertqa/"
Scripts/install-binary.sh "$stage/lib/bertqa_sqlite.so" "$root$libdir/bertqa_sqlite.so"
chmod 644 "$root$libdir/bertqa_sqlite.so"

mkdir "$root/DEBIAN"
# The dependency of packages whose programs link the library.
echo "libbertqa $abi bertqa (>= $version)" > "$root/DEBIAN/shlibs"
echo "activate-noawait ldconfig" > "$root/DEBIAN/triggers"
Scripts/deb-build.sh "$root" packaging/debian/control.in "$output" \
  "$root/usr/bin/bertqa" "$root$libdir/libbertqa.so" "$root$libdir/bertqa_sqlite.so"
