#!/bin/sh
# Fuzzing with libFuzzer, AddressSanitizer and, in C, UndefinedBehaviorSanitizer.
#   fuzz.sh build [TARGET...]       instrument the library and the tool once, and link the targets
#   fuzz.sh run SECONDS [TARGET...] each target for so long, in idle time; new inputs go to build/fuzz/corpus
#   fuzz.sh minimize [TARGET...]    keep in Tests/fuzz/corpus what covers anything of both, small inputs only
# corpus/TARGET.tar.xz has the committed inputs, and corpus/TARGET/NAME those that found something.
#   fuzz.sh replay                  every committed input through the released library, without libFuzzer
#   fuzz.sh typecheck               the targets in Swift, which replay does not compile, beside the modules of a build
# Environment: BERTQA_PREFIX for replay (default: build/), CC, FUZZ_OUT (default: build/fuzz). Crashes are
# left in $FUZZ_OUT/findings. The first three need swiftc with clang beside it.
set -eu
cd "$(dirname "$0")/../.."
here=Tests/fuzz
out=${FUZZ_OUT:-$PWD/build/fuzz}
objects=$out/objects
fixtures=$PWD/Tests/BertQACoreTests/Fixtures
c_targets=$(cd $here && ls ./*.c | sed 's|./||; s|\.c$||' | grep -vx replay)
swift_targets=$(cd $here && ls ./*.swift | sed 's|./||; s|\.swift$||')
# These are compiled as files of the tool.
as_tool="-parse-as-library -swift-version 6 -module-name bertqa_cli -ISources/CBertQA/include -ISources/CSystem
  -ISources/CCodecs $(find Sources/bertqa -name '*.swift' ! -name main.swift)"
idle="nice -n 19"
! command -v chrt > /dev/null || idle="$idle chrt -i 0"

is_older() { # is_older FILE PATH...: whether anything at the paths is newer than the file
  file=$1
  shift
  [ ! -e "$file" ] || [ -n "$(find "$@" -newer "$file" -type f -print -quit)" ]
}

build() {
  $here/instrument.sh address "$objects"
  clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
  for target in $*; do
    if [ -e "$here/$target.c" ]; then
      is_older "$out/$target" "$objects/done" "$here/$target.c" "$here/fuzz.h" || continue
      "$clang" -g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -Iinclude \
        -DFIXTURES="\"$fixtures\"" -c "$here/$target.c" -o "$objects/programs/$target.o"
    else
      is_older "$out/$target" "$objects/done" "$here/$target.swift" Sources/bertqa || continue
      # shellcheck disable=SC2086
      swiftc -g -O -wmo -package-name bertqa -sanitize=fuzzer,address -I"$objects" -c "$here/$target.swift" $as_tool \
        -o "$objects/programs/$target.o"
    fi
    swiftc -static-stdlib -sanitize=fuzzer,address -use-ld=lld "$objects/programs/$target.o" "$objects"/c/*.o \
      -o "$out/$target"
  done
}

typecheck() {
  # SwiftPM makes it of the directory's name.
  package=$(sed -n '/-package-name/{s/.*"-package-name","\([^"]*\)".*/\1/p;q}' .build/release.yaml)
  for target in $swift_targets; do
    # shellcheck disable=SC2086
    swiftc -frontend -typecheck -package-name "$package" -I.build/release/Modules -primary-file "$here/$target.swift" $as_tool
  done
}

# committed TARGET DIRECTORY: writes the committed inputs
committed() {
  rm -rf "$2"
  mkdir -p "$2"
  [ ! -e "$here/corpus/$1.tar.xz" ] || tar -xJf "$here/corpus/$1.tar.xz" -C "$2"
  [ ! -e "$here/corpus/$1" ] || find "$here/corpus/$1" -type f -exec cp {} "$2" \;
}

# Leaks: not looked for here, as a process is in memory that the runtime keeps; make sanitize looks.
run() {
  seconds=$1
  shift
  mkdir -p "$out/findings"
  status=0
  for target in $*; do
    mkdir -p "$out/corpus/$target"
    committed "$target" "$out/committed/$target"
    ASAN_OPTIONS=detect_leaks=0 $idle "$out/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
      -max_len=8192 -print_final_stats=1 -artifact_prefix="$out/findings/$target-" \
      "$out/corpus/$target" "$out/committed/$target" > "$out/$target.log" 2>&1 || status=1
    printf '%-12s %s executions, %s\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$target.log")" \
      "$(grep -o 'cov: [0-9]* ft: [0-9]*' "$out/$target.log" | tail -n 1)"
    grep -a -m 3 -e '^SUMMARY' -e 'Fatal error' -e 'Test unit written' "$out/$target.log" || true
  done
  [ $status = 0 ] && found=nothing || found="something: $out/findings"
  echo "$# targets, $seconds s each: found $found"
  return $status
}

# At most 300 kB for each target, the smallest inputs first.
minimize() {
  for target in $*; do
    rm -rf "$out/minimal" "$out/kept"
    mkdir -p "$out/minimal" "$out/kept"
    committed "$target" "$out/committed/$target"
    ASAN_OPTIONS=detect_leaks=0 $idle "$out/$target" -merge=1 -max_len=8192 "$out/minimal" "$out/committed/$target" \
      "$out/corpus/$target" > "$out/$target.merge.log" 2>&1
    total=0
    for file in $(ls -Sr "$out/minimal"); do
      size=$(stat -c %s "$out/minimal/$file")
      total=$((total + size))
      [ $total -le 300000 ] || break
      cp "$out/minimal/$file" "$out/kept/"
    done
    # The same bytes for the same inputs. A file between tar and xz: sh has no pipefail.
    (cd "$out/kept" && printf '%s\n' * | LC_ALL=C sort | tar --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=644 \
      --format=ustar -cf "$out/kept.tar" -T -)
    xz -9e < "$out/kept.tar" > "$here/corpus/$target.tar.xz"
    echo "$target: $(ls "$out/kept" | wc -l) inputs"
  done
}

replay() {
  prefix=${BERTQA_PREFIX:-$PWD/build}
  programs=$(mktemp -d)
  trap 'rm -rf "$programs"' EXIT
  trap 'exit 1' HUP INT TERM
  for target in $c_targets; do
    "${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror -DFIXTURES="\"$fixtures\"" -I"$prefix/include" \
      "$here/replay.c" "$here/$target.c" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -Wl,-z,lazy -lbertqa -lm -pthread \
      -o "$programs/$target"
    printf '%-12s ' "$target"
    committed "$target" "$programs/inputs"
    LD_DEBUG=bindings LD_DEBUG_OUTPUT="$programs/bindings" "$programs/$target" "$programs/inputs"
  done
  check_entered
  # The tool's own targets: the program itself must end with one of its own codes.
  for target in $swift_targets; do
    count=0
    committed "$target" "$programs/inputs"
    for file in "$programs/inputs"/*; do
      tail -c +4 "$file" > "$programs/input"
      case $target in
        records)
          for format in jsonl csv tsv length-prefixed; do
            check_tool filter --task tokenize --model "$fixtures/tiny-bert" --format $format --text-field text < "$programs/input"
          done
          ;;
        checkpoint)
          tail -c +2 "$file" > "$programs/checkpoint"
          rm -f "$programs/results"
          check_tool filter --task tokenize --model "$fixtures/tiny-bert" --resume "$programs/checkpoint" \
            -o "$programs/results" "$programs/input"
          ;;
        *)
          echo "replay does not know the target $target"
          exit 1
          ;;
      esac
      count=$((count + 1))
    done
    printf '%-12s %s inputs\n' "$target" $count
  done
}

# Each function of the ABI is called for some input: the dynamic linker writes a line when a function is first called.
# Threads may write into each other's lines, but not into what is looked for.
check_entered() {
  grep -oh "binding file $programs/[^']*symbol \`bertqa_[a-z0-9_]*'" "$programs"/bindings.* |
    sed "s/.*symbol \`\(.*\)'/\1/" | sort -u > "$programs/entered"
  nm -D --defined-only "$prefix/lib/libbertqa.so" | sed -n 's/.* T \(bertqa_[a-z0-9_]*\).*/\1/p' | sort -u > "$programs/functions"
  [ -s "$programs/functions" ] || { echo "no functions in $prefix/lib/libbertqa.so"; exit 1; }
  comm -13 "$programs/entered" "$programs/functions" > "$programs/missing"
  [ ! -s "$programs/missing" ] || { echo "no committed input enters" $(cat "$programs/missing"); exit 1; }
  echo "$(wc -l < "$programs/functions") functions of the ABI are entered"
}

check_tool() {
  code=0
  "$prefix/bin/bertqa" "$@" > /dev/null 2> "$programs/errors" || code=$?
  [ $code -lt 126 ] || {
    echo "code $code for $file: bertqa $*"
    cat "$programs/errors"
    exit 1
  }
}

action=${1:?build, run, minimize, replay or typecheck}
shift
case $action in
  replay | typecheck) "$action" ;;
  run)
    seconds=${1:?seconds}
    shift
    build ${*:-$c_targets $swift_targets}
    run "$seconds" ${*:-$c_targets $swift_targets}
    ;;
  build | minimize) "$action" ${*:-$c_targets $swift_targets} ;;
  *) exit 2 ;;
esac
