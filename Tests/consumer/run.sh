#!/bin/sh
# Builds the Swift package of this directory, which depends on version 0.1.0 of libbertqa by its URL, and runs it. The
# version is a tag in a repository that is made from the sources as they are now. The build is one for debugging, in
# which only a dependent package compiles the kernels without optimisation; make builds for release.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# A dependent package builds without the Makefile's options.
unset BERTQA_KERNEL_FLAGS
repository=$work/libbertqa
export BERTQA_REPOSITORY="file://$repository"

Scripts/dist.sh "$work" > "$work/name"
mkdir "$repository"
tar -xf "$(cat "$work/name")" -C "$repository" --strip-components=1
git -C "$repository" init -q
git -C "$repository" add .
git -C "$repository" -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false commit -q -m 0.1.0
git -C "$repository" -c tag.gpgsign=false tag 0.1.0
cp -R Tests/consumer "$work/consumer"
# The documentation's code, as a function of the program.
{
  echo "import BertQACore"
  echo "func runArticle() throws {"
  sed -n '/^```swift/,/^```$/{/^```/d; /^import /d; p}' Sources/BertQACore/BertQACore.docc/AnsweringQuestions.md
  echo "}"
} > "$work/consumer/Sources/consumer/Article.swift"

log=$work/log
set -- --package-path "$work/consumer" --cache-path "$work/cache"
if ! "${SWIFT:-swift}" build "$@" > "$log" 2>&1 || grep -q 'warning:' "$log"; then
  echo "consumer: errors or warnings:"
  cat "$log"
  exit 1
fi
answer=$("$work/consumer/.build/debug/consumer" models Tests/BertQACoreTests/Fixtures/tiny-bert-embedder | tail -n 1)
[ "$answer" = "The quick brown fox" ] || { echo "consumer: '$answer'"; exit 1; }
echo "consumer: $answer"
