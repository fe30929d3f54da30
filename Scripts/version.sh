#!/bin/sh
# Prints the version in the header, or one of its numbers.
# usage: version.sh [VERSION_MAJOR | VERSION_MINOR | VERSION_PATCH | ABI_VERSION]
set -eu
header=$(dirname "$0")/../include/bertqa.h
number() { sed -n "s/^#define BERTQA_$1 //p" "$header"; }
case ${1-} in
  '') echo "$(number VERSION_MAJOR).$(number VERSION_MINOR).$(number VERSION_PATCH)" ;;
  *) number "$1" ;;
esac
