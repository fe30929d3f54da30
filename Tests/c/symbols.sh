#!/bin/sh
# Checks what the library exports and needs: its symbols against the headers' functions, its
# SONAME, dependencies and size.
# usage: symbols.sh PREFIX    (as staged by make)
set -eu
prefix=$1
here=$(dirname "$0")
library=$prefix/lib/libbertqa.so
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
status=0
fail() {
  echo "symbols.sh: $*" >&2
  status=1
}

# Names only. The version node itself is an absolute symbol; local symbols, which some linkers leave in
# the table, are no exports.
nm -D --extern-only --defined-only "$library" | sed -n 's/^[0-9a-f]* [^A] \([^@]*\).*/\1/p' |
  LC_ALL=C sort > "$out/exported"
"${CC:-cc}" -E -P "$prefix/include/bertqa_experimental.h" > "$out/header"
grep -oE 'bertqa_[a-z0-9_]+ *\(' "$out/header" | tr -d ' (' |
  LC_ALL=C sort -u > "$out/declared"
diff -u "$out/declared" "$out/exported" >&2 || fail "the exports differ from the headers' functions"
for name in $(cat "$out/declared"); do
  case $name in
    *_options_init) grep -q "CHECK_STRUCT_SIZES(${name%_init}," "$here"/*_test.c || fail "no test takes ${name%_init} apart" ;;
    *) grep -qw "$name" "$here"/*_test.c || fail "$name is called by no test" ;;
  esac
  grep -qw "$name" "$here/everything.h" ||
    fail "$name is not called by everything.h"
done
# Those with bertqa_call_options, of their own or in other options.
for name in $(tr '\n' ' ' < "$out/header" | grep -oE 'bertqa_[a-z0-9_]+ *\([^)]*_options \*[^)]*\)' | sed 's/ *(.*//'); do
  case $name in *_options_init | bertqa_trainer_create) continue ;; esac # whose options have no call options
  grep -qw "$name" "$here/call_test.c" || fail "$name is not called by call_test.c"
done
nm -D --extern-only --defined-only "$library" | grep bertqa_ | grep -qv '@@BERTQA_1$' &&
  fail "a symbol is not of version BERTQA_1"
readelf --dyn-syms --wide "$library" | grep -E ' bertqa_.*@' | grep -v ' DEFAULT ' >&2 &&
  fail "programs that are not position-independent cannot take the address of a protected function"

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = libbertqa.so.1 ] || fail "SONAME is '$soname'"
readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' > "$out/needed"
allowed='libc\.so\.6|libm\.so\.6|libstdc\+\+\.so\.6|libgcc_s\.so\.1|ld-linux[-_a-z0-9]*\.so\.[12]'
grep -vE "^($allowed)\$" "$out/needed" >&2 &&
  fail "the library needs more than libc, libm, libstdc++ and libgcc_s"
readelf -d "$library" | grep -qE 'RPATH|RUNPATH' && fail "the library has a run path"
nm -D "$library" | grep -i foundation >&2 && fail "Foundation is linked"
# A library changes nothing of its host's process.
changing='sigaction|signal|v?fork|clone|exec[a-z]*|posix_spawnp?|system|popen|setlocale|uselocale|setenv|putenv|unsetenv|clearenv|_?exit'
nm -D --undefined-only "$library" | grep -wE "($changing)(@.*)?" >&2 &&
  fail "the library can change signal handlers, the locale or the environment, start programs or exit"
readelf -lW "$library" | grep -q 'GNU_STACK.*RWE' && fail "the stack is executable"

cp "$library" "$out/stripped.so"
strip "$out/stripped.so"
size=$(wc -c < "$out/stripped.so")
[ "$size" -le 10800000 ] || fail "$size bytes stripped are more than 10.8 MB"

[ $status = 0 ] && echo "symbols: $(wc -l < "$out/declared") functions, $size bytes stripped"
exit $status
