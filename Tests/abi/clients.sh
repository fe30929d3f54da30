#!/bin/sh
# Compiles the clients of earlier versions against their own headers, which are kept beside them, and runs them with
# the library as it is now. Each client calls what its header added to the one before.
# Environment: BERTQA_PREFIX (default: build/ of this checkout), CC.
set -eu
cd "$(dirname "$0")/clients"
prefix=${BERTQA_PREFIX:-$PWD/../../../build}
fixtures=$PWD/../../BertQACoreTests/Fixtures
export LD_LIBRARY_PATH="$prefix/lib"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() {
  echo "clients.sh: $*" >&2
  exit 1
}

# The headers are history: they do not change.
sha256sum --quiet -c SHA256SUMS || fail "a header of an earlier version was changed"
: > "$out/called"
for directory in $(printf '%s\n' */ | LC_ALL=C sort -V); do
  version=${directory%/}
  grep -q "  $version/bertqa.h\$" SHA256SUMS || fail "$version/bertqa.h is not in SHA256SUMS"
  "${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -I"$version" "$version/client.c" -L"$prefix/lib" -lbertqa -lm \
    -o "$out/client"
  nm -D --undefined-only "$out/client" | grep -oE 'bertqa_[a-z0-9_]+' >> "$out/called"
  "${CC:-cc}" -E -P "$version/bertqa.h" | grep -oE 'bertqa_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u > "$out/declared"
  uncalled=$(sort -u "$out/called" | comm -13 - "$out/declared")
  [ -z "$uncalled" ] || fail "header $version: no client calls" $uncalled
  mkdir "$out/$version"
  printf 'client of %-8s %s\n' "$version" "$("$out/client" "$fixtures" "$out/$version" || echo "FAILED ($?)")" | tee "$out/line"
  ! grep -q FAILED "$out/line" || exit 1
done
