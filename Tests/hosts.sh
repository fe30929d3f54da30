#!/bin/sh
# Tests the components for other frameworks with the released packages of those, in an environment of their own.
# usage: hosts.sh PYTHON (BERTQA_PREFIX names the installation to test)
set -e
cd "$(dirname "$0")/.."
venv=.venv-hosts
requirements=Tests/python/hosts/requirements.txt
if ! cmp -s "$requirements" "$venv/installed.txt"; then
  "$1" -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$venv/installed.txt"
fi
BERTQA_HOSTS=1 "$venv/bin/python" -m pytest -q -rs Tests/python/hosts
