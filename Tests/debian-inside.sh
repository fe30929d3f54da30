#!/bin/sh
# Runs inside the root of debian.sh, as a new user would.
set -eux
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset BERTQA_SKIPPED SWIFT CC CXX MAKEFLAGS MAKELEVEL
cd "$(dirname "$0")/.."
swift --version
make demo
# Tests/c/run.sh asks pkg-config for the flags; Tests/consumer/run.sh makes a repository.
{ command -v pkg-config && command -v git; } > /dev/null ||
  apt-get install -qy --no-install-recommends pkg-config git
Tests/c/kernels.sh
Tests/c/run.sh
Tests/abi/signatures.sh
make test-swift test-consumer
