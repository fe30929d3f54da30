#!/bin/sh
# Answers Apple's example, then questions about a document of several pages. Each answer is highlighted in its
# sentence.
# usage: demo.sh PATH-OF-bertqa
set -e
bertqa=$1
color=--color=always
[ -z "$NO_COLOR" ] || color=--color=never
documents=$(dirname "$0")/../examples/documents

ask() { # ask DOCUMENT QUESTION
  printf '\n$ bertqa answer --sentence --question "%s" %s\n' "$2" "examples/documents/$1"
  # Highlight the answer also in a pipe, as the demo is about the highlight.
  "$bertqa" answer --sentence $color --question "$2" "$documents/$1"
}

printf 'examples/documents/fox.txt: %s\n' "$(cat "$documents/fox.txt")"
printf '\n$ bertqa answer --question "Who jumped over the dog?" examples/documents/fox.txt\n'
"$bertqa" answer --question "Who jumped over the dog?" "$documents/fox.txt"

printf '\nexamples/documents/apollo.txt: %s words\n' "$(wc -w < "$documents/apollo.txt")"
ask apollo.txt "Who were the astronauts aboard the Apollo 11 mission?"
ask apollo.txt "What killed the crew of Apollo 1?"
ask apollo.txt "When was Skylab launched?"
