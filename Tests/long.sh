#!/bin/sh
# Runs the parts of make test-long, LANES (default: 2) at a time, and prints a table of them, with the last line that
# each printed, for docs/testing.md. Each one's output goes to LONG_OUT (default: build/long)/PART.log. A part
# that fails does not keep the others from running.
# usage: long.sh MAKE PART...    parts are targets of the Makefile; what they build first was built before
set -eu
cd "$(dirname "$0")/.."
out=${LONG_OUT:-$PWD/build/long}

# The table's row: wall-clock and processor minutes, the result.
run() { # run PART COMMAND...
  part=$1
  shift
  begun=$(date +%s)
  code=0
  "$@" > "$out/$part.log" 2>&1 || code=$?
  elapsed=$(($(date +%s) - begun))
  times > "$out/$part.times"
  result=$(grep -v -e '^$' -e '^make' "$out/$part.log" | tail -n 1 | tr -cd ' -{}~' | cut -c 1-100)
  [ $code = 0 ] || result="FAILED: $result"
  # The second line is of the processes that have ended.
  tail -n 1 "$out/$part.times" | tr 'ms' '  ' | LC_ALL=C awk -v part="$part" -v elapsed=$elapsed -v result="$result" '
    { printf "| `%s` | %.1f | %.1f | %s |\n", part, elapsed / 60, $1 + $3 + ($2 + $4) / 60, result }' > "$out/$part.row"
  [ $code = 0 ] || touch "$out/failed"
  cat "$out/$part.row"
}

if [ "$1" = --part ]; then
  # The library and the test's tools are built once, not by each part.
  run "$3" "$2" --no-print-directory -o all -o setup "$3"
  exit
fi
make=$1
shift
rm -rf "$out"
mkdir -p "$out"
begun=$(date +%s)
printf '%s\n' "$@" | xargs -P "${LANES:-2}" -n 1 "$0" --part "$make"
echo
echo '| part | minutes | processor minutes | its last line |'
echo '| --- | --- | --- | --- |'
for part in "$@"; do cat "$out/$part.row"; done
LC_ALL=C awk -v seconds=$(($(date +%s) - begun)) 'BEGIN { printf "| all | %.1f | | |\n", seconds / 60 }'
[ ! -e "$out/failed" ] || { echo "failed: the logs are in $out" >&2; exit 1; }
