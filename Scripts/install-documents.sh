#!/bin/sh
# Installs the documents, and the files that they link to, in the layout of the sources, so that their links
# work. Files that are installed elsewhere (the headers and the models) become links.
# usage: install-documents.sh DIRECTORY INCLUDE_DIRECTORY MODELS_DIRECTORY
set -eu
umask 022
directory=$(realpath -m "$1")
include=$(realpath -m "$2")
models=$(realpath -m "$3")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

links() { # links DOCUMENT: the linked files and directories, from here
  grep -o ']([^)]*)' "$1" | sed -e 's/^](//' -e 's/)$//' -e 's/#.*//' -e '/:/d' -e '/^$/d' |
    (cd "$(dirname "$1")" && xargs -r realpath -ms) | xargs -r realpath -ms --relative-to=.
}

ls LICENSE NOTICE README.md CHANGELOG.md SECURITY.md docs/*.md > "$work/new"
: > "$work/all"
while [ -s "$work/new" ]; do
  cat "$work/new" >> "$work/all"
  sed -n '/\.md$/p' "$work/new" | while read -r document; do links "$document"; done | sort -u > "$work/linked"
  while read -r path; do
    case $path in
      models/* | include/*) echo "$path" ;;
      *) [ ! -e "$path" ] || find "$path" \( -name __pycache__ -o -name build -o -name '*.egg-info' -o -name '.*' \) \
           -prune -o -type f -print ;;
    esac
  done < "$work/linked" | sort -u | grep -vxFf "$work/all" > "$work/new" || :
done

place() { # place PATH: installs it with its directory
  mkdir -p "$directory/$(dirname "$1")"
  echo "$directory/$1"
}
sort -u "$work/all" | while read -r path; do
  case $path in
    include/*) ln -sfr "$include/${path#include/}" "$(place "$path")" ;;
    models/*) ln -sfnr "$models" "$(place models)" ;;
    *) install -m 644 "$path" "$(place "$path")" ;;
  esac
done
