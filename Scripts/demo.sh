#!/bin/sh
# Answers Apple's example, then a few questions about a document of several pages.
# usage: demo.sh PATH-OF-bertqa
set -e
bertqa=$1
documents=$(dirname "$0")/../examples/documents

ask() { # ask DOCUMENT QUESTION [OPTION ...]
  document=$documents/$1
  question=$2
  shift 2
  printf '\n%s ($ bertqa answer -q "%s" %s)\n' "$question" "$question" "${document##*/}"
  "$bertqa" answer --question "$question" "$@" "$document"
}

printf 'Document: '
cat "$documents/fox.txt"
ask fox.txt "Who jumped over the dog?"
