#!/bin/sh
# Sets up the virtual environment of `make test` with its pinned Python packages.
# usage: setup-venv.sh VENV PYTHON
set -e
venv=$1
python=$2
cd "$(dirname "$0")/.."

install() { # install REQUIREMENTS MARK: unless already installed
  if ! cmp -s "$1" "$venv/$2" || ! "$venv/bin/python" -c ''; then
    "$python" -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$1"
    cp "$1" "$venv/$2"
  fi
}
install Tests/python/requirements.txt installed.txt
# Half a gigabyte, which is useful only with Java; its tests are skipped without it.
if command -v java > /dev/null 2>&1; then
  install Tests/python/spark/requirements.txt installed-spark.txt
fi
