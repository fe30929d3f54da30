#!/bin/sh
# Installs the wheels, the tarball and the Debian package in a system that has nothing but Python, asks each the question,
# and removes the package again. Run in a copy of the system by run.sh; the packages lie beside this file.
set -eu
cd "$(dirname "$0")"
document="The quick brown fox jumps over the lethargic dog."
question="Who jumped over the dog?"
fail() {
  echo "  $1" >&2
  exit 1
}
answers() { # answers WHAT COMMAND...: the command's output is the answer
  what=$1
  shift
  answer=$(echo "$document" | "$@") || fail "$what: failed"
  [ "$answer" = "The quick brown fox" ] || fail "$what: answered '$answer'"
  echo "  $what: $answer"
}
! command -v cc > /dev/null || fail "there is a compiler: this is not a bare system"

python3 -m venv /venv
/venv/bin/pip install -q --disable-pip-version-check --no-index --find-links . 'bertqa[models]'
answers "wheel, tool" /venv/bin/bertqa answer --question "$question"
answers "wheel, Python $(/venv/bin/python -c 'import platform; print(platform.python_version())')" /venv/bin/python -c "
import bertqa, sys
with bertqa.Context() as context:
    print(context.answer('$question', sys.stdin.read()).answer.text)"
answers "wheel, SQLite" /venv/bin/python -c "
import bertqa.sqlite, sqlite3, sys
connection = sqlite3.connect(':memory:')
bertqa.sqlite.load(connection)
print(connection.execute('SELECT bertqa_answer(?, ?)', ('$question', sys.stdin.read())).fetchone()[0])"
echo "Ada Lovelace met Charles Babbage in London." | /venv/bin/bertqa entities | grep -q "Ada Lovelace" ||
  fail "wheels: the model for entities"

mkdir "/opt/a place"
tar -xzf libbertqa-*.tar.gz -C "/opt/a place"
answers "tarball" "/opt/a place"/libbertqa-*/bin/bertqa answer --question "$question"
rm -rf "/opt/a place" /venv

# The recommended packages may not be there, and there is no network.
apt-get install -qq --no-install-recommends ./bertqa_*.deb > /tmp/apt.log 2>&1 < /dev/null || { cat /tmp/apt.log; fail "apt-get install"; }
answers "Debian package" bertqa answer --question "$question"
[ -z "$(dpkg --verify bertqa)" ] || fail "dpkg --verify: $(dpkg --verify bertqa)"
ldconfig -p | grep -q libbertqa || fail "the library is not in the linker's cache"
apt-get purge -qq bertqa > /tmp/apt.log 2>&1 < /dev/null || { cat /tmp/apt.log; fail "apt-get purge"; }
left=$(find / -xdev -name '*bertqa*' ! -path '/packages/*' ! -path '/proc/*' ! -path '/root/.cache/*')
[ -z "$left" ] || fail "left behind: $left"
