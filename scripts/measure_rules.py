"""Prints what the cues of foldline._facts.rules are worth on labelled sentences: precision and recall by language.

    python scripts/measure_rules.py [-v]        -v lists what went wrong

`rules/<language>.tsv` has sentences with their labels, written by hand: half of them in the way of what people type and
paste into agents. What counts in use is precision where one sentence in thirty is a rule.
"""

from __future__ import annotations

import sys
from pathlib import Path

from foldline._facts.rules import LANGUAGES, LIFETIMES, lifetime

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


def worth(pairs: list[tuple[bool, bool]]) -> str:
    right = sum(meant and found for meant, found in pairs)
    precision, recall = (right / max(1, sum(pair[place] for pair in pairs)) for place in (1, 0))
    return f"{precision:.2f} / {recall:.2f}"


if __name__ == "__main__":
    main()
