#!/bin/sh
# Builds and runs the C and C++ tests and the C examples against a prefix as make stages it.
# Environment: BERTQA_PREFIX (default: build/ of this checkout), CC, CXX. Arguments: names of tests to
# run instead of all, such as "fork_test".
set -eu
cd "$(dirname "$0")/../.."
prefix=${BERTQA_PREFIX:-$PWD/build}
if [ ! -e "$prefix/lib/libbertqa.so" ]; then
  echo "no library in $prefix: run make, or set BERTQA_PREFIX" >&2
  exit 1
fi
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
unset BERTQA_MODEL
tiny=$PWD/Tests/BertQACoreTests/Fixtures/tiny-bert
flags=$(pkg-config --cflags --libs bertqa)
strict="-Wall -Wextra -Werror -pedantic"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

run() { # run NAME COMMAND...: one line for a success, all output for a failure
  name=$1
  shift
  set +e # not a condition: there, -e would have no effect inside
  (set -e; "$@") > "$out/log" 2>&1
  status=$?
  set -e
  if [ $status = 0 ]; then
    printf '%-18s %s\n' "$name" "$(tail -n 1 "$out/log")"
  else
    printf '%-18s FAILED (status %s)\n' "$name" $status
    cat "$out/log"
    failures=$((failures + 1))
  fi
}

# shellcheck disable=SC2086 # flags are lists
compile() { # compile COMPILER... SOURCE: the program $out/NAME
  for source in "$@"; do :; done
  name=$(basename "$source")
  "$@" $flags -pthread -lm -o "$out/${name%.*}"
}

test_program() {
  compile "${CC:-cc}" -std=gnu99 -O1 -g -Wall -Wextra -Werror "Tests/c/$1.c"
  "$out/$1" "$tiny"
}

# shellcheck disable=SC2086
headers() { # by every compiler that is there
  for c in "${CC:-cc}" gcc clang; do
    command -v "$c" > /dev/null || continue
    for standard in c99 c11; do
      compile "$c" -std=$standard $strict Tests/c/header_test.c
      "$out/header_test"
      for header in include/*.h; do # each by itself; -Wpadded: no field hides in padding
        "$c" -std=$standard $strict -Wpadded -fsyntax-only -x c "$header"
      done
    done
  done
  for cxx in "${CXX:-c++}" g++ clang++; do
    command -v "$cxx" > /dev/null || continue
    for standard in c++11 c++17; do
      for position in "-fPIE -pie" "-fno-pie -no-pie"; do # the second is the default of some compilers
        compile "$cxx" -std=$standard $strict $position Tests/c/header_test.cc
        # The dynamic linker warns of functions whose address such a program cannot have.
        "$out/header_test" 2> "$out/warnings" && [ ! -s "$out/warnings" ] || { cat "$out/warnings"; return 1; }
      done
      for header in include/*.h; do
        "$cxx" -std=$standard $strict -Wpadded -fsyntax-only -x c++ "$header"
      done
    done
  done
  echo "valid C99, C11, C++11 and C++17, without padding"
}

# shellcheck disable=SC2086
examples() { # built as their README says, and each run
  for source in examples/c/*.c; do # Tests/python/documents/test_hosts.py runs the two that serve
    case $source in */ask_collection.c) continue ;; esac # Tests/python/sql/test_sqlite_collections.py runs it, with SQLite
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -o "$out/$(basename "$source" .c)" "$source" $flags -pthread
  done
  fox="The quick brown fox jumps over the lethargic dog."
  model=$prefix/share/bertqa/models/qa-minilm-l6
  expect "The quick brown fox" "$out/answer" "Who jumped over the dog?" "$fox"
  printf '%s' "$fox" | expect "The quick brown fox" "$out/answer" "Who jumped over the dog?" - "$model"
  expect "##har" "$out/tokenize" "$model" "$fox"
  expect "Moon? Neil Armstrong" "$out/threads"
  printf '%s' "$fox" > "$out/fox.txt"
  expect "  The quick brown fox" "$out/document" "$out/fox.txt" "Who jumped over the dog?"
  expect " 1.000  The DOG" "$out/embed" "the dog" "the king of france" "The DOG"
  expect "O Romeo , Romeo , brave Mercutio's dead" "$out/predict" "O Romeo"
  printf '%s' "$fox" | expect "  The quick brown fox" "$out/document" /dev/stdin "Who jumped over the dog?"
  expect "no answer" "$out/document" "$out/fox.txt" "What is the capital of Bolivia?"
  expect "  sport" "$out/classify" "The striker scored twice and the crowd sang until the final whistle."
  printf '\357\273\277a\tred green blue\nb\tone two three\nb\tsix one two\na\tgrey blue red\na\tgreen\nb\tsix\n' > "$out/data"
  expect "6 texts, 8 words" "$out/train_classifier" "$out/model" < "$out/data" 2> "$out/progress"
  expect "  a" "$out/classify" "blue, grey and green" "$out/model"
  fails "$out/answer" "Who jumped over the dog?" - < "$out"
  fails "$out/document" "$out" "Who jumped over the dog?"
  printf 'a\tred\nno tab\n' | fails "$out/train_classifier" "$out/other"
  fails "$out/train_classifier" "$out/other" < "$out"
  [ ! -e "$out/other" ]
  echo "built and run"
}

# shellcheck disable=SC2046
gate() { # with the library as it was linked, which still has local symbols
  linked=.build/release/libbertqa.so
  [ -e $linked ] || { echo "the gate of fork(): needs $linked" | Tests/skipped.sh gate; return; }
  command -v "${PYTHON:-python3}" > /dev/null || { echo "the gate of fork(): needs python3" | Tests/skipped.sh gate; return; }
  "${PYTHON:-python3}" Tests/c/gate.py $linked \
    $(nm -D --extern-only --defined-only $linked | sed -n 's/^[0-9a-f]* [^A] \(bertqa_[a-z0-9_]*\).*/\1/p')
}

expect() { # expect TEXT COMMAND...: the command succeeds and prints the text
  text=$1
  shift
  "$@" > "$out/output"
  grep -qF -- "$text" "$out/output" || {
    echo "expected \"$text\" of $*:"
    cat "$out/output"
    return 1
  }
}

fails() { # fails COMMAND...: the command ends with an error and a message
  status=0
  "$@" > "$out/output" 2> "$out/errors" || status=$?
  [ $status = 1 ] && [ -s "$out/errors" ] || {
    echo "expected a failure of $*: status $status"
    return 1
  }
}

# Every program of this directory but those that other runs have: kernels.sh, headers.
programs=$(cd Tests/c && ls ./*_test.c | sed 's|./||; s|\.c$||' | grep -vx -e kernels_test -e header_test)
tests=$*
for name in ${tests:-$programs headers examples symbols gate}; do
  case $name in
    headers | examples | gate) run "$name" "$name" ;;
    symbols) run "$name" Tests/c/symbols.sh "$prefix" ;;
    *) run "$name" test_program "$name" ;;
  esac
done
[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
