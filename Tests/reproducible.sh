#!/bin/sh
# Builds the sources twice, in directories, locales and time zones that differ, and compares what is shipped: the
# library, the tool, the tarballs of binaries and of sources, the Debian package, the wheel and the SBOM. At low priority.
# usage: reproducible.sh PYTHON
# Environment: KEEP, a new directory for the builds, which then stay.
set -eu
cd "$(dirname "$0")/.."
python=$(command -v "$1")
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset MAKEFLAGS MFLAGS SOURCE_DATE_EPOCH BERTQA_PREFIX
first=$work/first
second=$work/another/place/with-a-longer-path
mkdir -p "$work/home"

build() { # build DIRECTORY COMMAND...: what is shipped comes into DIRECTORY/build
  directory=$1
  shift
  mkdir -p "$directory"
  tar -xzf "$work"/libbertqa-*.tar.gz -C "$directory" --strip-components=1
  "$@" nice -n 10 make -s -C "$directory" all dist sbom > "$directory.log" 2>&1 || {
    tail -n 40 "$directory.log"
    exit 1
  }
  # Packages for whose tools this machine has.
  if command -v dpkg-deb > /dev/null && pkg-config --exists sqlite3; then
    "$@" nice -n 10 make -s -C "$directory" tarball deb >> "$directory.log" 2>&1 || { tail "$directory.log"; exit 1; }
  fi
  if "$python" -c 'import pip, setuptools' 2> /dev/null && pkg-config --exists sqlite3; then
    "$@" nice -n 10 make -s -C "$directory" wheel PYTHON="$python" \
      WHEEL_OPTIONS="--no-build-isolation --no-index" \
      >> "$directory.log" 2>&1 || { tail "$directory.log"; exit 1; }
  fi
}

Scripts/dist.sh "$work" > /dev/null
(umask 022 && build "$first" env TZ=UTC LC_ALL=C)
sleep 1
(umask 077 && build "$second" env TZ=Asia/Kathmandu LC_ALL=C.UTF-8 HOME="$work/home")

answer=$("$first/build/bin/bertqa" answer --question "Who jumped over the dog?" examples/documents/fox.txt)
[ "$answer" = "The quick brown fox" ] || { echo "the tarball's build answers: $answer"; exit 1; }

failures=0
count=0
for path in lib/libbertqa.so.1 bin/bertqa $(cd "$first/build" && ls ./*.tar.gz ./*.deb ./*.whl ./*.spdx.json 2> /dev/null); do
  count=$((count + 1))
  if cmp "$first/build/$path" "$second/build/$path"; then
    echo "the same bytes twice: ${path#./}"
  else
    failures=$((failures + 1))
  fi
done
for kind in deb whl linux-*.tar.gz; do
  # shellcheck disable=SC2086 # a pattern
  ls "$first"/build/*[-.]$kind > /dev/null 2>&1 || echo "not compared: the .$kind, for which tools are missing"
done
echo "$((count - failures)) of $count files are the same bytes twice"
exit $failures
