#!/bin/sh
# The public functions take instructions in proportion to their input, also where it is hostile: callgrind counts
# those of calls on 1, 2, 4 and 8 times a text (Tests/c/valgrind/linear*.c), and eight times the text may take 12
# times as many. Prints the worst ratio of each function.
# Arguments: bytes of the smallest texts, by default 2048; a part of the names of the functions to call. Environment: BERTQA_PREFIX (default: build/), CC.
# Succeeds, saying why, where there is no valgrind.
set -eu
cd "$(dirname "$0")/../.."
export BERTQA_PREFIX="${BERTQA_PREFIX:-$PWD/build}"
command -v callgrind_annotate > /dev/null || { echo "linear: needs valgrind" | Tests/skipped.sh linear; exit 0; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
fixtures=$PWD/Tests/BertQACoreTests/Fixtures
for program in linear linear_models; do
  Tests/c/valgrind/build.sh $program "$out"
  (cd "$out" && LD_LIBRARY_PATH="$out${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" valgrind -q --tool=callgrind \
    --callgrind-out-file="$out/$program.counts" ./$program "$fixtures" "$BERTQA_PREFIX/share/bertqa/models" "${1:-2048}" "${2:-}")
done
cat "$out"/*.counts.* | awk -F': ' -v wanted="${2:-}" '
  /^desc: Trigger: Client Request: / { split($4, of, ";") }
  /^totals: / && of[3] { count[of[1] ";" of[2], of[3]] = $2; names[of[1] ";" of[2]] = of[1]; of[3] = "" }
  END {
    for (name in names) {
      tests++
      if (!count[name, 1] || !count[name, 8]) { print "not counted: " name; bad++; continue }
      ratio = count[name, 8] / count[name, 1]
      if (ratio > worst[names[name]]) { worst[names[name]] = ratio; on[names[name]] = name }
      if (ratio > 12) { printf "%s: %.1f times the work for 8 times the input\n", name, ratio; bad++ }
    }
    for (name in worst) {
      split(on[name], of, ";")
      printf "%-27s %5.1f  %-27s %.0f million instructions\n", name, worst[name], of[2], count[on[name], 8] / 1e6 | "sort"
    }
    close("sort")
    printf "linear: %d functions on hostile texts, %d above the bound\n", tests, bad
    exit bad > 0 || tests == 0 || (!wanted && tests < 300)
  }'
