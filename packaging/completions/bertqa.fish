# Completion of bertqa for fish: the tool itself computes the candidates.
function __bertqa_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete -- $words[2..] "$current" 2>/dev/null)
        if test "$line" != :files
            printf '%s\n' $line
        else if string match -qr '^--[^=]*=' -- $current
            set -l parts (string split -m 1 = -- $current)
            string replace -r '^' -- "$parts[1]=" (__fish_complete_path "$parts[2]")
        else
            __fish_complete_path $current
        end
    end
end
complete -c bertqa -f -a '(__bertqa_candidates)'
