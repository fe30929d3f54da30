#!/bin/sh
# Installs the Debian packages that `make test` needs, if run as root, and otherwise lists those that are missing.
# usage: setup-tools.sh PYTHON
set -e
python=$1

missing=
need() { # need COMMAND PACKAGE
  command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need cc gcc
need c++ g++
need pkg-config pkg-config
need clang-format clang-format
need jq jq
need parallel parallel
need nm binutils
need abidiff abigail-tools
need cmake cmake
need dpkg-shlibdeps dpkg-dev
need fish fish
need zsh zsh
need sqlite3 sqlite3
need xz xz-utils
pkg-config --exists sqlite3 2>/dev/null || missing="$missing libsqlite3-dev"
[ "$(id -u)" = 0 ] || need fakeroot fakeroot
need "$python" python3
"$python" -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
# Emulation for the tests of the arm64 kernels, which are skipped without it.
if [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ]; then
  need aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
  need qemu-aarch64 qemu-user
fi
# Other hosts of the library, a browser for the demo's page, a sandbox, another C library, and leak detection.
# Without them their tests are skipped.
if [ "$(id -u)" = 0 ]; then
  need musl-gcc musl-tools
  need valgrind valgrind
  need bwrap bubblewrap
  need kcat kcat
  need zstd zstd
  ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || missing="$missing postgresql"
  ls /usr/include/postgresql/*/server/postgres.h > /dev/null 2>&1 || missing="$missing postgresql-server-dev-all"
  # Debian 13 and later have pgvector.
  for server in /usr/lib/postgresql/*; do
    package=postgresql-$(basename "$server")-pgvector
    [ -e "/usr/share/postgresql/$(basename "$server")/extension/vector.control" ] ||
      ! apt-cache show "$package" > /dev/null 2>&1 || missing="$missing $package"
  done
  ldconfig -p | grep -q 'libedit\.so\.2' || missing="$missing libedit2"
  ldconfig -p | grep -q 'libpcre2-8\.so\.0' || missing="$missing libpcre2-8-0"
  ldconfig -p | grep -q 'libxml2\.so' || missing="$missing libxml2"
  ldconfig -p | grep -q 'libgmime-3\.0\.so' || missing="$missing libgmime-3.0-0"
  ldconfig -p | grep -q 'libmd4c\.so\.0' || missing="$missing libmd4c0"
  need go golang-go
  need rustc rustc
  need javac default-jdk-headless
  [ -e /usr/share/java/jna.jar ] || missing="$missing libjna-java"
  need luajit luajit
  need chromium chromium
fi
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get update -q
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $missing
  else
    echo "make test needs these Debian packages: apt-get install$missing" >&2
    exit 1
  fi
fi
