#!/bin/sh
# Makes everything that can be used without a toolchain, for every staged architecture: tarball, wheels,
# Debian packages, and their SHA256SUMS.
# usage: dist-binary.sh OUTPUT_DIRECTORY PYTHON [OPTION_OF_PIP_WHEEL]...
# Environment: BERTQA_PREFIX, this machine's staged tree; `make sqlite` stages into build. Trees of other
# architectures are in its subdirectory build/cross/ARCHITECTURE.
set -eu
output=$(realpath -m "$1")
shift
cd "$(dirname "$0")/.."
own=$(realpath "${BERTQA_PREFIX:-build}")
mkdir -p "$output"
rm -f "$output"/libbertqa-*-linux-*.tar.gz "$output"/bertqa-*.whl "$output"/bertqa_models-*.whl \
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
done
(cd "$output" && LC_ALL=C sha256sum libbertqa-*-linux-*.tar.gz bertqa-*.whl bertqa_models-*.whl \
  *.deb > SHA256SUMS)
echo "$output/SHA256SUMS"
for machine in x86_64 aarch64; do
  case $made in
    *"$machine"*) ;;
    *) echo "not made: packages for $machine, as $own/cross/$machine has no build (docs/packaging.md)" ;;
  esac
done
