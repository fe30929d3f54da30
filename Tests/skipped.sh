#!/bin/sh
# Tells what was skipped and why.
# usage: skipped.sh RUNNER < LINES    prints the lines, and keeps them in $BERTQA_SKIPPED, if it is set
#        skipped.sh                   prints what all runners kept there
set -eu
directory=${BERTQA_SKIPPED:-}
if [ $# = 1 ]; then
  lines=$(cat)
  [ -z "$lines" ] || printf 'skipped: %s\n' "$lines" | sed '2,$s/^/skipped: /'
  if [ -n "$directory" ]; then
    mkdir -p "$directory"
    printf '%s\n' "$lines" | sed "/^\$/d; s/^/$1: /" > "$directory/$1"
  fi
elif [ -n "$directory" ] && [ -n "$(cat "$directory"/* 2> /dev/null)" ]; then
  echo "Skipped:"
  cat "$directory"/*
else
  echo "Nothing was skipped."
fi
