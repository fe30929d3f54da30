#!/bin/sh
# Makes a Python wheel of what is staged: for any Python 3.9 or later on the architecture of its binaries, tagged with
# the oldest glibc that they run on.
# usage: wheel.sh OUTPUT_DIRECTORY PYTHON [OPTION_OF_PIP_WHEEL]...
# Environment: BERTQA_PREFIX, the staged tree; `make` stages into build.
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
mkdir -p "$output"
machine=$(Scripts/architecture.sh "$BERTQA_PREFIX/bin/bertqa")
rm -f "$output"/bertqa-*_"$machine".whl
"$python" -m pip wheel -q --disable-pip-version-check --no-deps --wheel-dir "$output" "$@" \
  "$work/source"
ls "$output"/bertqa-*_"$machine".whl
