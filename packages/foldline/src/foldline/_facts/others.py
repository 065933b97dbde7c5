"""The files that another agent says it changed, in its report."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline._facts.cues import changes_in
from foldline._facts.splitting import split
from foldline._facts.texts import headed

_FILE = re.compile(
    r"(?<![\w/.:@-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*\w\.[A-Za-z]\w{0,5}(?![\w/])|(?<=`)[\w.+-]+\.[A-Za-z]\w{0,5}(?=`)"
)
_READ = 8_000
"""Characters of a report that are read."""


def files_changed(report: str) -> Iterator[tuple[str, str]]:
    """What a report says was done to files: a verb as trails have it, and the path.

    Of a sentence the verb before a path counts, else its first one, else that of the heading over it.
    """
    for under, line in headed(report[:_READ]):
        for sentence in split(line):
            named = list(_FILE.finditer(sentence))
            said = (changes_in(sentence) or changes_in(under)[:1]) if named else []
            for file in named if said else ():
                yield [said[0], *(each for each in said if each[0] < file.start())][-1][1], file[0]
