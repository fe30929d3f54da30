#!/bin/sh
# The core's Swift tests under a sanitizer, in a debug build of their own under .build/.
#   sanitize.sh address          AddressSanitizer: all suites
#   sanitize.sh thread           ThreadSanitizer: the suites whose code runs in several threads
# A second argument selects the tests to run instead: an expression. Environment: JOBS (default: 1), of the build.
set -eu
cd "$(dirname "$0")/.."
kind=${1:?address or thread}
scratch=.build/sanitize-$kind
export BERTQA_KERNEL_FLAGS=1
case $kind in
  address)
    tests=${2:-'^BertQACoreTests\.'}
    skipped=
    ;;
  thread)
    tests=${2:-'\.(ThreadPool|ConcurrencyStress|ForkGate|CallMonitor|Batch|Encoder|LBFGS|Calibration|Training|SequenceStep)Tests/'}
    # Under this sanitizer Swift's runtime takes a lock at every use of a lazy static, not only at the first. A child that
    # forks while another thread holds it waits for ever.
    skipped=forkedChildrenHaveAPoolOfTheirOwn
    ;;
  *) exit 2 ;;
esac
# Children of threaded processes continue; what a process of the tests prints is compared nowhere.
export TSAN_OPTIONS="die_after_fork=0 halt_on_error=0 exitcode=66" ASAN_OPTIONS=detect_leaks=0
swift build --build-tests -j "${JOBS:-1}" "--sanitize=$kind" --scratch-path "$scratch"
exec swift test --skip-build "--sanitize=$kind" --scratch-path "$scratch" --filter "$tests" ${skipped:+--skip "$skipped"}
