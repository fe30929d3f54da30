#!/bin/sh
# Compares with torch and transformers, live. Their wheels are gigabytes: this is not part of `make test`.
# usage: run.sh PYTHON DIRECTORY [FILE]
# DIRECTORY: Tests/parity or Tests/parity4. FILE: one of its tests. BERTQA_PREFIX names the installation to test.
set -e
directory=$2
cd "$(dirname "$0")/../.."
venv=.venv-$(basename "$directory")
Scripts/venv.sh "$venv" "$1" "$directory/requirements.txt"
PYTHONPATH=bindings/python BERTQA_LIBRARY="$BERTQA_PREFIX/lib/libbertqa.so.1" \
  "$venv/bin/python" -m pytest -q "$directory${3:+/$3}"
