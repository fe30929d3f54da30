#!/bin/sh
# Makes a reproducible tarball of the sources: the files in git or, in the unpacked tarball itself, all files
# that .gitignore does not exclude.
# usage: dist.sh OUTPUT_DIRECTORY
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")/.."
name=libbertqa-$(Scripts/version.sh)
list=$(mktemp)
trap 'rm -f "$list"' EXIT
trap 'exit 1' HUP INT TERM

if [ -e .git ]; then
  git ls-files -z > "$list"
else
  set -- -name .git
  while read -r pattern; do set -- "$@" -o -name "${pattern%/}"; done < .gitignore
  find . \( "$@" \) -prune -o ! -type d -printf '%P\0' > "$list"
fi
date=$(Scripts/source-date.sh)
mkdir -p "$output"
LC_ALL=C sort -z -o "$list" "$list"
tar -cf "$output/$name.tar" --no-recursion --null --files-from="$list" --transform="s|^|$name/|S" \
  --format=gnu --mtime="@$date" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX
gzip -9nf "$output/$name.tar"
echo "$output/$name.tar.gz"
