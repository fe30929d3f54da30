#!/bin/sh
# Makes the Python wheels of the staged tree for Python 3.9 or later: bertqa, for the architecture of its
# binaries and tagged with the oldest glibc that they run on, and bertqa-models, for all architectures.
# usage: wheel.sh OUTPUT_DIRECTORY PYTHON [OPTION_OF_PIP_WHEEL]...
# Environment: BERTQA_PREFIX, the staged tree; `make` stages into build.
set -eu
umask 022
. "$(dirname "$0")/staged.sh"
python=$2
shift 2
export BERTQA_PREFIX="$stage"
# Build from copies, as setuptools leaves intermediate files next to the sources.
for source in bindings/python packaging/python-models; do
  copy=$work/$(basename "$source")
  cp -RL "$source" "$copy"
  rm -rf "$copy"/build "$copy"/*.egg-info
done
chmod -R u=rwX,go=rX "$work"
mkdir -p "$output"
rm -f "$output"/bertqa-*_"$machine".whl "$output"/bertqa_models-*.whl
"$python" -m pip wheel -q --disable-pip-version-check --no-deps --wheel-dir "$output" "$@" "$work"/*
ls "$output"/bertqa-*_"$machine".whl "$output"/bertqa_models-*.whl
