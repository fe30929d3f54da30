#!/bin/sh
# Makes the wheel bertqa-qa-large and a tarball of the better model for answers, which is too large for the repository.
# usage: models-large.sh MODEL_DIRECTORY OUTPUT_DIRECTORY PYTHON [OPTION_OF_PIP_WHEEL]...
# The model is one by training/finetune_qa.py --out. The tarball is unpacked into a prefix, such as /usr/local.
set -eu
umask 022
model=$(realpath "$1")
output=$(realpath -m "$2")
python=$3
shift 3
cd "$(dirname "$0")/.."
test -f "$model/config.json" || { echo "$0: $model has no config.json: is it a model by training/finetune_qa.py?" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
name=share/bertqa/models/qa-large
mkdir -p "$output" "$work/$name"
cp -RL "$model/." "$work/$name/"
cp -RL packaging/python-models "$work/wheel"
chmod -R u=rwX,go=rX "$work"

# The package bertqa-models has this file.
rm -rf "$work/wheel/bertqa_models/__init__.py" "$work/wheel/build" "$work/wheel"/*.egg-info
sed -i -e 's/^name = .*/name = "bertqa-qa-large"/' -e 's/^license = .*/license = "Apache-2.0"/' \
  -e 's/^description = .*/description = "A larger model that answers questions, for the package bertqa"/' "$work/wheel/pyproject.toml"
cat > "$work/wheel/README.md" << 'END'
# A larger model for answers

pip installs it next to `bertqa`, which finds it by its name: `bertqa.Context("qa-large")`, `bertqa answer -m qa-large`.
END
rm -f "$output"/bertqa_qa_large-*.whl
BERTQA_MODELS="$work/share/bertqa/models" "$python" -m pip wheel -q --disable-pip-version-check --no-deps \
  --wheel-dir "$output" "$@" "$work/wheel"
tar -C "$work" -czf "$output/qa-large.tar.gz" --sort=name --mtime="@$(Scripts/source-date.sh)" --owner=0 --group=0 \
  --numeric-owner "$name"
ls "$output"/bertqa_qa_large-*.whl "$output/qa-large.tar.gz"
