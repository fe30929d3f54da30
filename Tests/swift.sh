#!/bin/sh
# Runs `swift test`, and at its end says which tests were skipped and why. Fails if the compiler warns.
# usage: swift.sh [OPTION_OF_SWIFT_TEST]...
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

# sh has no pipefail: the status goes through a file.
{ "${SWIFT:-swift}" test "$@" 2>&1 && echo 0 > "$out/status" || echo $? > "$out/status"; } | tee "$out/log"
sed -n 's/^[^[:alnum:]]*\(Test\|Suite\) \(.*\) skipped: "\(.*\)"$/\2: \3/p; s/^[^[:alnum:]]*\(Test\|Suite\) \(.*\) skipped\.*$/\2/p' \
  "$out/log" | Tests/skipped.sh swift
if grep -qE '\.swift:[0-9]+:[0-9]+: warning:|^macro expansion .* warning:' "$out/log"; then
  echo "the compiler warns: see above" >&2
  exit 1
fi
exit "$(cat "$out/status")"
