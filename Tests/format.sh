#!/bin/sh
# Checks the format of the C code against .clang-format, and the format and the imports of the Python code against
# ruff.toml; `Tests/format.sh -i` corrects them. Not covered: the public headers, whose comments are laid out by hand, and
# the tests and examples in C.
set -eu
cd "$(dirname "$0")/.."
check="--dry-run -Werror"
python_check="--check --diff"
python_fix=
if [ "${1:-}" = -i ]; then
  check=-i
  python_check=
  python_fix=--fix
fi
skipped=

find_tool() { # find_tool COMMAND...: the first that is there
  for tool in "$@"; do
    ! command -v "$tool" || return 0
  done
}

format=$(find_tool ${CLANG_FORMAT:+"$CLANG_FORMAT"} clang-format clang-format-19 clang-format-14)
# shellcheck disable=SC2086 # options
if [ -n "$format" ]; then
  find Sources Benchmarks Tests/CTestSupport extensions training \( -name '*.c' -o -name '*.h' \) -exec "$format" $check {} +
else
  skipped="format of C: needs clang-format
"
fi

ruff=$(find_tool .venv/bin/ruff ruff)
# shellcheck disable=SC2086 # options
if [ -n "$ruff" ]; then
  set -- Benchmarks Scripts Tests bindings examples training
  "$ruff" check -q $python_fix "$@"
  "$ruff" format -q $python_check "$@"
else
  skipped="${skipped}format of Python: needs ruff (make setup)
"
fi
# Scripts can be run by their names.
plain=$(find Benchmarks Scripts Tests examples training ! -perm -u+x \( -name '*.sh' -o -name '*.py' \) \
  -exec awk 'FNR == 1 && /^#!/ { print FILENAME }' {} +)
[ -z "$plain" ] || { echo "not executable: $plain" >&2; exit 1; }
printf '%s' "$skipped" | Tests/skipped.sh format
