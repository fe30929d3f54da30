#!/bin/sh
# Runs inside the root of debian.sh, as a new user would.
set -eux
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset BERTQA_SKIPPED SWIFT CC CXX MAKEFLAGS MAKELEVEL
cd "$(dirname "$0")/.."
swift --version
make demo
# Tests/c/run.sh asks pkg-config for the flags; Tests/consumer/run.sh makes a repository.
{ command -v pkg-config && command -v git; } > /dev/null ||
  apt-get install -qy --no-install-recommends pkg-config git
Tests/c/kernels.sh
Tests/c/run.sh
Tests/abi/signatures.sh
make test-swift test-consumer
# The SQL extensions, with an SQLite and a PostgreSQL that are newer than Debian 12's.
apt-get install -qy --no-install-recommends libsqlite3-dev sqlite3 postgresql-17 postgresql-server-dev-17
make sqlite
make install PREFIX=/opt/bertqa # where the server's user can read it
answer="SELECT bertqa_answer('Who jumped?', 'The fox jumped.')"
sqlite3 :memory: ".load build/lib/bertqa_sqlite" "$answer" | grep -x fox
PKG_CONFIG_PATH=/opt/bertqa/lib/pkgconfig make -C extensions/postgresql install COPT=-Werror
pg_virtualenv psql -qAt -c "CREATE EXTENSION bertqa" -c "$answer" | grep -x fox
