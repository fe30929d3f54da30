#!/bin/sh
# Compares with torch and transformers, live. Their wheels are gigabytes: this is not part of `make test`.
# usage: run.sh PYTHON (BERTQA_PREFIX names the installation to test)
set -e
cd "$(dirname "$0")/../.."
venv=.venv-parity
if ! cmp -s Tests/parity/requirements.txt "$venv/installed.txt"; then
  "$1" -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r Tests/parity/requirements.txt
  cp Tests/parity/requirements.txt "$venv/installed.txt"
fi
PYTHONPATH=bindings/python BERTQA_LIBRARY="$BERTQA_PREFIX/lib/libbertqa.so.1" \
  "$venv/bin/python" -m pytest -q Tests/parity
