#!/bin/sh
# Writes each model's SHA256SUMS, the list of its files that `sha256sum -c` checks.
# usage: manifests.sh            for all of models/
#        manifests.sh --check    fails if a list is out of date
set -eu
cd "$(dirname "$0")/../models"
new=$(mktemp)
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
for model in */; do
  model=${model%/}
  (cd "$model" && find . -type f ! -name SHA256SUMS -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum --) > "$new"
  if [ "${1:-}" != --check ]; then
    cat "$new" > "$model/SHA256SUMS"
  elif ! cmp -s "$new" "$model/SHA256SUMS"; then
    echo "models/$model/SHA256SUMS is not that of the model's files: run make manifests" >&2
    diff "$model/SHA256SUMS" "$new" >&2 || true
    failures=1
  fi
done
exit $failures
