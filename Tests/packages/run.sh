#!/bin/sh
# Tries what `make dist-binary` made where it is to be used: in bare systems of Debian 12 and 13, without a network, for
# each architecture of which there are packages; those of another one than this machine's under emulation.
# usage: run.sh DIRECTORY
# Environment: BERTQA_ROOTS, where the systems are kept for the next time (default: /var/tmp/bertqa-roots);
# BERTQA_SUITES (default: bookworm trixie); what Scripts/debian-root.sh reads.
set -eu
packages=$(realpath "$1")
cd "$(dirname "$0")"
roots=${BERTQA_ROOTS:-/var/tmp/bertqa-roots}
skip() { echo "packages in bare systems: $1" | ../skipped.sh packages; }
[ "$(id -u)" = 0 ] || { skip "needs root, to make and enter them"; exit 0; }
command -v debootstrap > /dev/null || { skip "needs debootstrap"; exit 0; }

foreign_runs() { # foreign_runs MACHINE: whether the kernel starts its programs, and where a chroot has no emulator
  grep -qsx 'flags:.*F.*' "/proc/sys/fs/binfmt_misc/qemu-$1"
}

make_root() { # make_root SUITE ARCHITECTURE DIRECTORY: Debian's minimum, and Python
  echo "making $3"
  mkdir -p "$roots"
  ../../Scripts/debian-root.sh "$1" "$2" "$3" --no-install-recommends python3 python3-pip python3-venv > "$3.log" 2>&1 ||
    { tail -n 20 "$3.log"; exit 1; }
}

found=
copy=
trap '[ -z "$copy" ] || rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
missing=
for machine in x86_64 aarch64; do
  case $machine in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; esac
  deb=$(ls "$packages"/bertqa_*_$architecture.deb 2> /dev/null) || continue
  found=yes
  if [ $machine != "$(uname -m)" ] && ! foreign_runs $machine; then
    missing="${missing}packages in bare systems: those for $machine need qemu-user-static and binfmt-support
"
    continue
  fi
  # The wheel's tag also holds for the tarball and the Debian package.
  glibc=$(ls "$packages"/bertqa-*_$machine.whl | sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/')
  for suite in ${BERTQA_SUITES:-bookworm trixie}; do
    if [ $suite = bookworm ] && [ "$glibc" -gt 36 ]; then
      echo "Debian $suite, $machine: too old, glibc 2.$glibc is needed"
      continue
    fi
    root=$roots/python-$suite-$architecture
    [ -d "$root" ] || make_root $suite $architecture "$root"
    copy=$(mktemp -d "$roots/copy.XXXXXX")
    cp -a --reflink=auto "$root/." "$copy"
    mkdir "$copy/packages"
    cp inside.sh "$deb" "$packages"/bertqa-*_$machine.whl "$packages"/bertqa_models-*.whl \
      "$packages"/libbertqa-*-linux-$machine.tar.gz "$copy/packages"
    echo "Debian $suite, $machine:"
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --net --pid --fork sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" \
      env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh /packages/inside.sh' sh "$copy"
    rm -rf "$copy"
    copy=
  done
done
[ -n "$found" ] || { echo "no packages in $packages: run make dist-binary" >&2; exit 1; }
printf '%s' "$missing" | ../skipped.sh packages
