#!/bin/sh
# Tests the components for other frameworks with the released packages of those, in an environment of their own.
# usage: hosts.sh PYTHON (BERTQA_PREFIX names the installation to test)
set -e
cd "$(dirname "$0")/.."
venv=.venv-hosts
hosts=Tests/python/hosts/requirements.txt
versions=Tests/python/requirements.txt
if ! cat "$hosts" "$versions" | cmp -s - "$venv/installed.txt"; then
  "$1" -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r "$hosts" -c "$versions"
  cat "$hosts" "$versions" > "$venv/installed.txt"
fi
BERTQA_HOSTS=1 "$venv/bin/python" -m pytest -q -rs Tests/python/hosts
