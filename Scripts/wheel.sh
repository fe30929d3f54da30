#!/bin/sh
# Makes a Python wheel of what `make` has built: for any Python 3.9 or later on this architecture, tagged with
# the oldest glibc that it runs on.
# usage: wheel.sh OUTPUT_DIRECTORY PYTHON [OPTION_OF_PIP_WHEEL]...
set -eu
umask 022
output=$(realpath -m "$1")
python=$2
shift 2
cd "$(dirname "$0")/.."
export BERTQA_PREFIX="${BERTQA_PREFIX:-$PWD/build}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# From a copy: setuptools leaves its intermediate files beside the sources.
cp -RL examples/python "$work/source"
rm -rf "$work"/source/build "$work"/source/*.egg-info
chmod -R u=rwX,go=rX "$work/source"
rm -f "$output"/bertqa-*.whl
"$python" -m pip wheel -q --disable-pip-version-check --no-deps --wheel-dir "$output" "$@" \
  "$work/source"
ls "$output"/bertqa-*.whl
