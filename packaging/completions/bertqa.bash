# Completion of bertqa for bash: the tool itself computes the candidates.
_bertqa() {
  local word line words=()
  # bash splits "--model=x" at the "="; the tool needs the words as typed.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#words[@]} -gt 0 && ${words[-1]} == --* && ($word == "=" || ${words[-1]} == *=) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  local behind_equals=${words[-1]}
  [[ $behind_equals == --*=* ]] && behind_equals=${behind_equals#*=}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2> /dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$behind_equals")
    else
      line=${line%%$'\t'*}
      # bash replaces the part after the "=".
      [[ $line == --*=* ]] && line=${line#*=}
      COMPREPLY+=("$line")
    fi
  done < <("$1" complete -- "${words[@]}" 2> /dev/null)
}
complete -F _bertqa bertqa
