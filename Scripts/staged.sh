# Common to the scripts that package a staged tree: `. "$(dirname "$0")/staged.sh"` in OUTPUT_DIRECTORY's script.
# Reads $1, the output directory, and BERTQA_PREFIX, the staged tree. Goes to the root of the checkout, and sets output,
# stage, work (a temporary directory that is removed at exit), abi, version, and machine, that of the tree's binaries.
# shellcheck shell=sh disable=SC2034 # the scripts read the variables
output=$(realpath -m "$1")
cd "$(dirname "$0")/.."
stage=$(realpath "${BERTQA_PREFIX:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
abi=$(Scripts/version.sh ABI_VERSION)
version=$(Scripts/version.sh)
for header in bertqa.h bertqa_experimental.h; do
  cmp -s "include/$header" "$stage/include/$header" || {
    echo "$0: $stage was built from other sources, as its $header shows: build it again" >&2
    exit 1
  }
done
SOURCE_DATE_EPOCH=$(Scripts/source-date.sh)
export SOURCE_DATE_EPOCH
machine=$(Scripts/architecture.sh "$stage/bin/bertqa")
