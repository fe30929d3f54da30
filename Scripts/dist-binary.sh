#!/bin/sh
# Makes everything that is published: for every staged architecture a tarball, wheels, Debian packages and the bill of
# materials, then the tarball of the sources, and their SHA256SUMS.
# usage: dist-binary.sh OUTPUT_DIRECTORY PYTHON [OPTION_OF_PIP_WHEEL]...
# Environment: BERTQA_PREFIX, this machine's staged tree; `make sqlite` stages into build. Trees of other
# architectures are in its subdirectory build/cross/ARCHITECTURE.
set -eu
output=$(realpath -m "$1")
shift
cd "$(dirname "$0")/.."
own=$(realpath "${BERTQA_PREFIX:-build}")
mkdir -p "$output"
rm -f "$output"/libbertqa-*.tar.gz "$output"/libbertqa-*.spdx.json "$output"/bertqa-*.whl "$output"/bertqa_models-*.whl \
  "$output"/*.deb "$output/SHA256SUMS"

made=
for stage in "$own" "$own"/cross/*/; do
  [ -e "$stage/bin/bertqa" ] || continue
  export BERTQA_PREFIX="$stage"
  made="$made $(Scripts/architecture.sh "$stage/bin/bertqa")"
  Scripts/tarball.sh "$output"
  Scripts/wheel.sh "$output" "$@"
  Scripts/deb.sh "$output"
  Scripts/deb-postgresql.sh "$output"
  SOURCE_DATE_EPOCH=$(Scripts/source-date.sh) "$1" Scripts/sbom.py "$stage" "$output"
done
Scripts/dist.sh "$output"
(cd "$output" && LC_ALL=C sha256sum libbertqa-*.tar.gz libbertqa-*.spdx.json bertqa-*.whl bertqa_models-*.whl \
  *.deb > SHA256SUMS)
echo "$output/SHA256SUMS"
for machine in x86_64 aarch64; do
  case $made in
    *"$machine"*) ;;
    *) echo "not made: packages for $machine, as $own/cross/$machine has no build (docs/packaging.md)" ;;
  esac
done
