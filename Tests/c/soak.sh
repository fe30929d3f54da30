#!/bin/sh
# Builds soak.c and runs it in several processes at once. Argument: the number of calls, of all together.
# Environment: PROCESSES (default: 4), BERTQA_PREFIX (default: build/), CC.
set -eu
cd "$(dirname "$0")/../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
processes=${PROCESSES:-4}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
"${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -I"$prefix/include" -o "$out/soak" Tests/c/soak.c \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lbertqa -pthread -lm
running=
for process in $(seq "$processes"); do
  "$out/soak" "$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert" $((${1:-1000000} / processes)) > "$out/$process.log" 2>&1 &
  running="$running $!"
done
status=0
for process in $running; do wait "$process" || status=1; done
cat "$out"/*.log
cat "$out"/*.log | LC_ALL=C awk '/ calls: / {
    calls += $1
    for (i = 2; i <= NF; i++) if ($i == "bytes" && (!processes || $(i - 1) + 0 > most)) most = $(i - 1) + 0
    processes++
  }
  END { printf "%d calls in %d processes: %+.1f bytes a call at most\n", calls, processes, most }'
exit $status
