#!/bin/sh
# Folds a copy of the sample session and shows every step; the sample itself stays as it is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/invoices.jsonl" "$work/invoices.jsonl"
cd "$work"

# A command as it would be typed, and what it says.
run() {
    printf '\n$ foldline'
    for word in "$@"; do
        case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    foldline "$@"
}

s="--session invoices.jsonl"
run context status $s
run context inspect $s
run compact --dry-run $s
run compact --yes --focus "the retention rule" $s
run context status $s
run context history $s

# Any message that was folded away comes back by its id: here, the first tool output of the session.
id=$(foldline session show --folded $s | awk '/ tool: /{print $1; exit}')
printf '\n$ foldline recall %s | head -n 12\n' "$id"
foldline recall "$id" $s > recalled.txt
head -n 12 recalled.txt

run session undo $s
run context status $s
cmp -n "$(wc -c < "$here/invoices.jsonl")" "$here/invoices.jsonl" invoices.jsonl
printf '\nThe first %s bytes of the file are those of the sample, untouched.\n' "$(wc -c < "$here/invoices.jsonl")"

# An agent of foldline's own, whose model plays a script here: it folds by itself when its window fills.
cp "$here/chat.jsonl" script.jsonl
run chat --model test --script script.jsonl --window 5000 --yes --session chat.jsonl -p "Read the records, change nothing"
run context history --session chat.jsonl
