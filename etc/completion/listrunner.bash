# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
# shellcheck shell=bash
#
# Completion of listrunner(1) for bash. Verbs, options and what their arguments are
# come from the program's own table (listrunner help --words), names of
# lists, queues, domains and entries from the site. Nothing from there is ever expanded by
# the shell.

# Asks the program; what goes wrong there is no news for a prompt.
_listrunner_ask()
{
    "$program" "$@" 2> /dev/null
}

# Reads the words before the one being typed: verb (the words that name one), given
# (its arguments), config (-c FILE).
_listrunner_read_line()
{
    local word skip='' words
    words=$(_listrunner_ask help --words)
    for word in "$@"; do
        if [ -n "$skip" ]; then
            [ "$skip" = config ] && config=(-c "$word")
            skip=''
            continue
        fi
        case $word in
        -c | --config) skip=config ;;
        --config=*) config=(-c "${word#*=}") ;;
        --*=*) ;;
        -*) grep -q "^$word	." <<< "$words" && skip=value ;;
        help) [ ${#verb[@]} -eq 0 ] && help=yes ;;
        *)
            if [ ${#given[@]} -eq 0 ] && grep -qx -e "$word" <<< "$words"; then
                verb+=("$word")
                words=$(_listrunner_ask help --words "${verb[@]}")
            else
                given+=("$word")
            fi
            ;;
        esac
    done
}

# The words that can stand for a placeholder, or for a choice a|b|c.
_listrunner_values()
{
    case $1 in
    LIST) _listrunner_ask "${config[@]}" list ls --names ;;
    DOMAIN) _listrunner_ask "${config[@]}" domain ls --names ;;
    QUEUE) _listrunner_ask "${config[@]}" queue stat --names ;;
    ENTRY) _listrunner_ask "${config[@]}" queue ls --names --limit 1000 ;;
    SET) _listrunner_ask "${config[@]}" fragments ls --names ;;
    NUMBER) _listrunner_ask "${config[@]}" held ls --names ;;
    REQUEST) _listrunner_ask "${config[@]}" pending ls --names ;;
    RUNNER) _listrunner_ask "${config[@]}" config show --defaults | sed -n 's/^\[runner\.\(.*\)\].*/\1/p' ;;
    SETTING*) _listrunner_ask "${config[@]}" list show --names "${given[0]}" ;;
    FILE) compgen -f -- "$2" ;;
    *'|'*) tr '|' '\n' <<< "$1" ;;
    esac
}

# The placeholder of the argument being typed: the last one goes on for ever
# when it ends in "...".
_listrunner_placeholder()
{
    local -a places
    local place
    read -r -a places <<< "$(sed -n 's/^=//p' <<< "$1" | tr -d '[]')"
    place=${places[${#given[@]}]}
    if [ -z "$place" ] && [ ${#places[@]} -gt 0 ] && [[ ${places[${#places[@]} - 1]} == *... ]]; then
        place=${places[${#places[@]} - 1]}
    fi
    printf '%s' "${place%...}"
}

# Keeps the candidates (on standard input) that begin with the word typed. The shell cuts
# words at COMP_WORDBREAKS and wants only what follows the last cut.
_listrunner_reply()
{
    local candidate cut='' mark
    for mark in @ = :; do
        [[ $COMP_WORDBREAKS == *"$mark"* && $current == *"$mark"* && ${current%"$mark"*} > ${cut%?} ]] &&
            cut=${current%"$mark"*}$mark
    done
    while IFS= read -r candidate; do
        [[ -n $candidate && $candidate == "$typed"* ]] || continue
        candidate=${current%"$typed"}$candidate
        COMPREPLY+=("${candidate#"$cut"}")
    done
}

_listrunner()
{
    local program=$1 line=${COMP_LINE:0:COMP_POINT} words place='' current typed help=''
    local -a typed_words verb=() given=() config=()
    read -r -a typed_words <<< "$line"
    [[ $line == *[[:space:]] ]] && typed_words+=('')
    current=${typed_words[${#typed_words[@]} - 1]} typed=$current
    local previous=${typed_words[${#typed_words[@]} - 2]}
    COMPREPLY=()
    _listrunner_read_line "${typed_words[@]:1:${#typed_words[@]} - 2}"
    words=$(_listrunner_ask help --words "${verb[@]}")
    if [[ $current == --*=* ]]; then
        previous=${current%%=*} typed=${current#*=}
    fi
    [ "$previous" = -c ] && previous=--config
    [[ $previous == --* ]] && place=$(sed -n "s/^$previous	\(..*\)/\1/p" <<< "$words")
    [ -z "$place" ] && [[ $current != -* && -z $help ]] && place=$(_listrunner_placeholder "$words")
    if [ -n "$place" ]; then
        _listrunner_reply < <(_listrunner_values "$place" "$typed")
    elif [[ $current == -* ]]; then
        _listrunner_reply < <(sed -n 's/^\(--[a-z-]*\)	.*/\1/p' <<< "$words")
    else
        _listrunner_reply < <(grep '^[a-z]' <<< "$words")
    fi
}

complete -F _listrunner listrunner
