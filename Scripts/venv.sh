#!/bin/sh
# Installs pinned Python packages in a virtual environment, unless it has them.
# usage: venv.sh VENV PYTHON REQUIREMENTS [CONSTRAINTS]
set -e
requirements=$3
constraints=$4
mark=$1/$(echo "$requirements" | tr / -)
# The interpreter may have moved.
if ! cat "$requirements" ${constraints:+"$constraints"} | cmp -s - "$mark" || ! "$1/bin/python" -c ''; then
  "$2" -m venv "$1"
  "$1/bin/pip" install -q --disable-pip-version-check -r "$requirements" ${constraints:+-c "$constraints"}
  cat "$requirements" ${constraints:+"$constraints"} > "$mark"
fi
