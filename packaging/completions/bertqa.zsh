#compdef bertqa
# Completion of bertqa for zsh: the tool itself computes the candidates.
local line word
local -a candidates
for line in "${(@f)$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
  if [[ $line == :files ]]; then
    compset -P '--[^=]#='
    _files
    return
  fi
  word=${line%%$'\t'*}
  [[ -n $word ]] && candidates+=("${word//:/\\:}:${${line#$word}#$'\t'}")
done
_describe bertqa candidates
