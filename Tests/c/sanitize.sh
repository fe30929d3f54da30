#!/bin/sh
# The C tests linked with an instrumented library: under AddressSanitizer (with LeakSanitizer, and
# UndefinedBehaviorSanitizer in C), or under ThreadSanitizer.
# Arguments: address or thread, and names of tests to run instead of all. Environment: SANITIZE_OUT (default:
# build/). Needs swiftc with clang beside it.
set -eu
cd "$(dirname "$0")/../.."
kind=${1:?address or thread}
shift
out=${SANITIZE_OUT:-$PWD/build}
tiny=$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
# memory_test and max_bytes_test count what malloc gives, address_space_test limits it; call_test and stack_test have
# stacks that are too small for instrumented code.
not_these="kernels_test header_test memory_test max_bytes_test address_space_test call_test stack_test"
case $kind in
  address)
    objects=$out/fuzz/objects # the same that the fuzz targets have
    flags=-fsanitize=address,undefined
    not_these="$not_these first_use_test" # it looks for races
    ;;
  thread)
    objects=$out/sanitize-thread
    flags=-fsanitize=thread
    # limits_test takes all threads and descriptors away, of which the sanitizer needs some. poll_test compares times,
    # which the sanitizer changes.
    not_these="$not_these limits_test poll_test"
    ;;
esac
tests=$(cd Tests/c && ls ./*_test.c | sed 's|./||; s|\.c$||' | grep -vxF "$(echo "$not_these" | tr ' ' '\n')")
Tests/fuzz/instrument.sh "$kind" "$objects"
ln -sfn "$PWD/models" "$objects/programs/models" # where the library looks for the default models
# Children of processes with threads go on, without the threads that their parents would have joined.
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 die_after_fork=0 report_thread_leaks=0" ASAN_OPTIONS=detect_leaks=1
failures=0
count=0
for test in ${*:-$tests}; do
  program=$objects/programs/$test
  "$clang" -std=gnu99 -O1 -g "$flags" -Iinclude -c "Tests/c/$test.c" -o "$program.o"
  # The static runtime comes with --exclude-libs ALL, which hides the sanitizer's malloc from libc: what strdup
  # gives would be libc's, and free the sanitizer's.
  swiftc -toolchain-stdlib-rpath "-sanitize=$kind" -use-ld=lld "$program.o" "$objects"/c/*.o -o "$program"
  log=$objects/programs/$test.log
  # Tests look at what the library writes to standard error, so reports go to a file.
  rm -f "$log".*
  code=0
  ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$log" TSAN_OPTIONS="$TSAN_OPTIONS log_path=$log" \
    "$program" "$tiny" > "$log" 2>&1 || code=$?
  count=$((count + 1))
  printf '%-20s %s\n' "$test" "$(tail -n 1 "$log")"
  if [ $code != 0 ] || ls "$log".* > /dev/null 2>&1; then
    failures=$((failures + 1))
    grep -v ' passed, ' "$log" | head -n 20 || true
    cat "$log".* 2> /dev/null | head -n 60
  fi
done
echo "$count C tests under $kind, $failures failed"
[ $failures = 0 ]
