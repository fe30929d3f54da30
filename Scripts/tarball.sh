#!/bin/sh
# Makes a relocatable tarball of the staged tree: the library, the tool, SQLite's extension, headers, files
# for pkg-config and CMake, and the models. Equal binaries give an equal tarball.
# usage: tarball.sh OUTPUT_DIRECTORY
# Environment: BERTQA_PREFIX, the staged tree; `make sqlite` stages into build.
set -eu
umask 022
. "$(dirname "$0")/staged.sh"
name=libbertqa-$version-linux-$machine
root=$work/$name

${MAKE:-make} --no-print-directory -s install-files DESTDIR= PREFIX="$root" LIBDIR="$root/lib" \
  from_library="$stage/lib/libbertqa.so.$abi" from_tool="$stage/bin/bertqa"
Scripts/install-binary.sh "$stage/lib/bertqa_sqlite.so" "$root/lib/bertqa_sqlite.so"
# pkg-config derives its paths from the location of its file.
# shellcheck disable=SC2016 # pkg-config's variables, not the shell's
sed -i -e 's|^prefix=.*|prefix=${pcfiledir}/../..|' -e 's|^libdir=.*|libdir=${prefix}/lib|' "$root/lib/pkgconfig/bertqa.pc"
depends=$(Scripts/dependencies.sh "$root/bin/bertqa" "$root"/lib/*.so)
glibc=$(echo "$depends" | sed -n 's/.*libc6 (>= 2\.\([0-9]*\)).*/\1/p')
sed -e "s/@VERSION@/$version/" -e "s/@MACHINE@/$machine/" -e "s/@GLIBC@/$glibc/" -e "s/@MAJOR@/$(Scripts/version.sh VERSION_MAJOR)/" \
  -e "s/@MINOR@/$(Scripts/version.sh VERSION_MINOR)/" packaging/README.in > "$root/README"
cp LICENSE NOTICE "$root/"

mkdir -p "$output"
# Sort by name and use one time stamp, none in gzip's header.
tar -C "$work" -cf "$work/$name.tar" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" \
  --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$name"
gzip -n "$work/$name.tar"
mv "$work/$name.tar.gz" "$output/"
echo "$output/$name.tar.gz"
