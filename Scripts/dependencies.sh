#!/bin/sh
# Prints the Debian packages that ELF files need as a Depends field: for any architecture, on any machine with
# readelf.
# usage: dependencies.sh FILE...
#
# For its own machine's files dpkg-shlibdeps prints the same (Tests/python/packages/test_packages.py compares them),
# but for another architecture's only if that architecture's libraries are installed.
set -eu
export LC_ALL=C
# Not in a pipe, so that a failure ends the script.
dynamic=$(readelf --dynamic --version-info --wide "$@")
needed=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)
symbols=$(echo "$dynamic" | grep -o 'Name: [A-Z]*_[0-9.]*' | sed 's/Name: //' | sort -Vu)
newest() { echo "$symbols" | sed -n "s/^$1_//p" | tail -n 1; }

packages=$(for library in $needed; do
  case $library in
    libc.so.* | libm.so.* | ld-linux*) echo "libc6 (>= $(newest GLIBC))" ;;
    libgcc_s.so.*) echo "libgcc-s1 (>= $(newest GCC))" ;;
    libstdc++.so.*)
      # The GCC release that added these symbols.
      case $(newest GLIBCXX) in
        3.4.2[0-8]) echo "libstdc++6 (>= 9)" ;;
        3.4.29) echo "libstdc++6 (>= 11)" ;;
        3.4.30) echo "libstdc++6 (>= 12)" ;;
        3.4.31) echo "libstdc++6 (>= 13)" ;;
        3.4.32) echo "libstdc++6 (>= 13.2)" ;;
        3.4.33) echo "libstdc++6 (>= 14)" ;;
        3.4.34) echo "libstdc++6 (>= 15)" ;;
        *) echo "dependencies.sh: GLIBCXX_$(newest GLIBCXX) is of a libstdc++ not known here" >&2; exit 1 ;;
      esac
      ;;
    libbertqa.so.*) ;;
    *) echo "dependencies.sh: no package is known for $library" >&2; exit 1 ;;
  esac
done)
echo "$packages" | sort -u | paste -sd , | sed 's/,/, /g'
