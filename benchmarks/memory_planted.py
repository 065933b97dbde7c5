"""What `memory` plants into sessions: rules, and values that are corrected later, worded as people word them.

The wording was written by hand, without a look at what any extraction searches for. One half is for tuning, the other
for reporting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from foldline.messages import Message, Text
from memory_cases import cut_at


class Correction(NamedTuple):
    """A value, how a user told it, how the agent took it up, and how the user took it back."""

    old: str
    new: str
    told: str
    taken: str
    corrected: str


CORRECTIONS: dict[str, tuple[Correction, ...]] = {
    "tune": (
        Correction(
            "eu-west-3",
            "eu-north-1",
            "fyi the bucket lives in eu-west-3",
            "Good to know, I point the client at eu-west-3 then.",
            "ah, I mixed that up, the bucket is in eu-north-1",
        ),
        Correction(
            "7714",
            "7741",
            "The bridge listens on 7714 on my machine.",
            "I found the reason: nothing answered because the bridge is on 7714.",
            "typo on my side, 7741 for the bridge",
        ),
        Correction(
            "release/4.2",
            "release/4.3",
            "We ship this from release/4.2, just so you know.",
            "I'll branch off release/4.2.",
            "Marta says 4.2 is closed already. Take release/4.3 please",
        ),
        Correction(
            "kestrel-base:11",
            "kestrel-base:12",
            "image for the workers: kestrel-base:11",
            "The workers get kestrel-base:11.",
            "hm ops rebuilt it over the weekend, kestrel-base:12 it is",
        ),
        Correction(
            "48213",
            "48231",
            "die Kundennummer zum Testen ist 48213",
            "Ich teste mit der Kundennummer 48213.",
            "ach Mist, Zahlendreher: 48231",
        ),
    ),
    "report": (
        Correction(
            "ap-south-2",
            "ap-east-1",
            "Our staging stuff sits in ap-south-2.",
            "Noted: staging is in ap-south-2, so I set that as the default because the CLI needs one.",
            "wait no. staging moved to ap-east-1 last week",
        ),
        Correction(
            "9417",
            "9471",
            "the metrics thing answers on 9417",
            "The scraper should now talk to 9417.",
            "oops, fat fingers: 9471",
        ),
        Correction(
            "PROJ-3381",
            "PROJ-3318",
            "ticket for all of this is PROJ-3381",
            "I'll mention PROJ-3381 in the commit message.",
            "You had the wrong ticket from me the whole time. PROJ-3318 is ours.",
        ),
        Correction(
            "heron_prod_v2",
            "heron_prod_v3",
            "Read from heron_prod_v2, that's where the numbers come from.",
            "The report reads from heron_prod_v2.",
            "forget about heron_prod_v2, data people want us on heron_prod_v3",
        ),
        Correction(
            "25.11.4",
            "25.12.0",
            "we're pinned to polaris 25.11.4",
            "I keep polaris at 25.11.4 since it is pinned.",
            "the pin went up this morning, polaris 25.12.0",
        ),
    ),
}

RULES: dict[str, tuple[str, ...]] = {
    "tune": (
        "Hands off the vendored zlib, legal signed off on exactly those bytes.",
        "One commit per topic, I review them one by one.",
        "nothing gets pushed until I had a look",
        "Kommentare im Code bitte auf Englisch.",
        "the JSON keys are public API, people parse them",
        "Only Postgres 14 features, the hosted one is old.",
        "이 파일들은 건드리지 마세요: legacy 폴더 전체",
        "You can't use the network in the unit tests.",
    ),
    "report": (
        "The migrations folder is off limits for you.",
        "Error texts stay as they are, support greps for them.",
        "please no new dependencies, every one goes through an audit",
        "Keep it working on Python 3.9, two customers sit on it.",
        "I want the old flag to go on working for one more release.",
        "Fragen Sie nach, bevor etwas an der Datenbank geändert wird.",
        "配置文件里的密钥不要打印出来",
        "whatever you do, leave the lock file alone",
    ),
}

FILLERS = ("ok.", "Understood.", "Will do.", "Noted.")
RULE_PLACES = (0.02, 0.09, 0.17, 0.26, 0.38, 0.52, 0.66, 0.78)
TOLD_PLACES = (0.03, 0.08, 0.13, 0.22, 0.31)
CORRECTED_PLACES = (0.19, 0.36, 0.45, 0.58, 0.74)


def planted(messages: Sequence[Message], split: str) -> list[Message]:
    """A session with the rules, the values and their corrections of a split said in it, each where no pair is open."""
    extra: list[tuple[float, list[Message]]] = []
    for i, (rule, place) in enumerate(zip(RULES[split], RULE_PLACES)):
        extra.append((place, [user(rule), assistant(FILLERS[i % len(FILLERS)])]))
    for fact, told, corrected in zip(CORRECTIONS[split], TOLD_PLACES, CORRECTED_PLACES):
        extra.append((told, [user(fact.told), assistant(fact.taken)]))
        extra.append((corrected, [user(fact.corrected), assistant("Thanks, I go by that from here on.")]))
    whole, done = [], 0
    for place, said in sorted(extra, key=lambda item: item[0]):
        at = max(done, cut_at(messages, place))
        whole += [*messages[done:at], *said]
        done = at
    return [*whole, *messages[done:]]


def user(text: str) -> Message:
    """What a user says."""
    return Message("user", (Text(text),))


def assistant(text: str) -> Message:
    """What the agent says."""
    return Message("assistant", (Text(text),))


def told(items: Sequence[str], messages: Sequence[Message]) -> Iterator[str]:
    """Those of the items that some message says word for word."""
    texts = {message.text for message in messages}
    yield from (item for item in items if item in texts)
