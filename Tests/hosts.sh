#!/bin/sh
# Tests the components for other frameworks with the released packages of those, in an environment of their own.
# usage: hosts.sh PYTHON (BERTQA_PREFIX names the installation to test)
set -e
cd "$(dirname "$0")/.."
venv=.venv-hosts
Scripts/venv.sh $venv "$1" Tests/python/hosts/requirements.txt Tests/python/requirements.txt
BERTQA_HOSTS=1 $venv/bin/python -m pytest -q -rs Tests/python/hosts
