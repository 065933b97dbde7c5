"""Prints what the cues of foldline._facts.rules are worth on labelled sentences: precision and recall by language.

    python scripts/measure_rules.py [-v]        -v lists what went wrong

`rules/<language>.tsv` has sentences with their labels, written by hand: half of them in the way of what people type and
paste into agents. What counts in use is precision where one sentence in thirty is a rule.

`rules/messages.tsv` has whole messages, a rule in them between `[[` and `]]`, the turns of one row apart by ` || `: what
stands at the end of the turns is compared, so that an order for one turn and a rule taken back are wrong where they stand.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from foldline import Message
from foldline._facts.reading import facts_of
from foldline._facts.rules import LANGUAGES, LIFETIMES, lifetime
from foldline.extend import Text

HERE = Path(__file__).resolve().parent / "rules"


def main() -> None:
    for language in LANGUAGES:
        rows = [line.split("\t") for line in (HERE / f"{language}.tsv").read_text("utf-8").splitlines()]
        judged = [(label, lifetime(text, language=language), text) for label, text in rows]
        shares = "   ".join(f"{kind} {worth([(a == kind, b == kind) for a, b, _ in judged])}" for kind in LIFETIMES)
        print(f"{language} {len(rows):5}   {shares}   any {worth([(a != 'none', b != 'none') for a, b, _ in judged])}")
        for label, found, text in judged if "-v" in sys.argv else ():
            if label != found:
                print(f"   {label} -> {found} | {text}")
        in_messages(language)


def in_messages(language: str) -> None:
    rows = [line.split("\t") for line in (HERE / "messages.tsv").read_text("utf-8").splitlines()]
    pairs: list[tuple[bool, bool]] = []
    for _, label, row in (row for row in rows if row[0] == language):
        meant = re.findall(r"\[\[(.+?)\]\]", row)
        found = standing_after(re.sub(r"\[\[|\]\]", "", row).split(" || "), over=label == "turn")
        judged = [(True, any(same(each, rule) for rule in found)) for each in meant]
        judged += [(False, True) for rule in found if not any(same(each, rule) for each in meant)]
        pairs += judged
        for wanted, told in judged if "-v" in sys.argv else ():
            if wanted != told:
                print(f"   {'missed' if wanted else 'wrong'} ({label}) | {row}")
    print(f"{language} in messages   {worth(pairs)}")


def standing_after(turns: list[str], *, over: bool) -> list[str]:
    """The user's rules that stand behind turns; `over` adds one that asks for something else."""
    told: list[Message] = []
    for turn in (*turns, *(["Now look at the blue one."] if over else [])):
        told += [Message("user", (Text(turn),)), Message("assistant", (Text("Fine, that is all there is to say."),))]
    return [rule.text for rule in facts_of(told).rules if rule.lifetime != "once"]


def same(meant: str, rule: str) -> bool:
    """Whether a rule that was found is the one that is meant, or a part of the sentence in which it stands."""
    return meant.strip(" .。!") in rule or rule.strip(" .。!") in meant


def worth(pairs: list[tuple[bool, bool]]) -> str:
    right = sum(meant and found for meant, found in pairs)
    precision, recall = (right / max(1, sum(pair[place] for pair in pairs)) for place in (1, 0))
    return f"{precision:.2f} / {recall:.2f}"


if __name__ == "__main__":
    main()
