#!/bin/sh
# Makes a Debian package of the PostgreSQL extension, postgresql-NN-bertqa, for each server of version 15 or
# later whose development files are installed. The package depends on the package bertqa, which has the
# library.
# usage: deb-postgresql.sh OUTPUT_DIRECTORY
# Environment: BERTQA_PREFIX, the staged tree of this machine; COPT, additional options of the C compiler.
set -eu
. "$(dirname "$0")/staged.sh"
if [ "$machine" != "$(uname -m)" ]; then
  echo "not made: packages for PostgreSQL on $machine, as they are built on such a machine only"
  exit 0
fi
made=
for config in /usr/lib/postgresql/*/bin/pg_config; do
  [ -e "$config" ] && [ -e "$("$config" --includedir-server)/postgres.h" ] || continue
  server=$("$config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  [ "$server" -ge 15 ] || continue
  package=postgresql-$server-bertqa
  root=$work/$package
  mkdir -p "$work/build-$server" "$root/usr/share/doc/$package"
  # Leave out the path of the staged library, as the dynamic loader finds the installed one. Error messages
  # contain file names without their paths.
  MAKEFLAGS='' COPT="-ffile-prefix-map=$PWD/extensions/postgresql=. ${COPT:-}" PKG_CONFIG_PATH="$stage/lib/pkgconfig" make -s -C "$work/build-$server" \
    -f "$PWD/extensions/postgresql/Makefile" PG_CONFIG="$config" SHLIB_LINK="-L$stage/lib -lbertqa -lm" \
    install DESTDIR="$root"
  module=$root$("$config" --pkglibdir)/bertqa.so
  mv "$module" "$work/bertqa.so"
  Scripts/install-binary.sh "$work/bertqa.so" "$module"
  chmod 644 "$module"
  # Without the parts that only the package bertqa has.
  sed '/^Comment/,$d' packaging/debian/copyright > "$root/usr/share/doc/$package/copyright"
  SERVER=$server Scripts/deb-build.sh "$root" packaging/debian/control-postgresql.in "$output" "$module"
  made=yes
done
[ -n "$made" ] || echo "not made: packages for PostgreSQL, as no postgresql-server-dev-NN is installed"
