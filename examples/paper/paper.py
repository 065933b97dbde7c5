"""A paper, written with a model in thirteen stages, in a window that holds a few of them.

    python examples/paper/paper.py FOLDER

The model is scripted and nothing is sent anywhere: put your own in the place of `scripted`. FOLDER keeps the conversation and
what foldline knows of it after each stage, and the sections as they were approved: started again, it goes on from there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foldline import Compactor

WINDOW = 4_000
OUTLINE = "Outline"


class Stage(NamedTuple):
    """What the author asks for in a stage, what is decided in it, and what belongs to it by name."""

    name: str
    asks: Sequence[str]
    decided: str
    lists: dict[str, list[str]]


def plain(name: str, decided: str, **lists: list[str]) -> Stage:
    """A stage of a first draft, a second one, and the author's content."""
    return Stage(
        name, (f"Draft this: {name}.", f"Shorter, please; this must stay in it: {decided}", "ok thanks"), decided, lists
    )


STAGES = (
    plain("Idea", "Does a city's shade change how far its people walk?"),
    plain("Topic", "Shade and walking in three cities of Java, 2015 to 2025."),
    plain(OUTLINE, "Five chapters; the cities are compared in the fourth."),
    plain("Abstract", "At most 200 words, the effect in metres."),
    plain("Introduction", "Begins with the heat of 2023."),
    plain("Literature", "Two schools: climate and planning.", References=["Rahmawati (2021)", "Gehl (2010)"]),
    plain("Method", "Phones' steps against maps of trees, by hour."),
    plain("Results", "180 metres further for each tenth of shade."),
    plain("Discussion", "Shade is not the only cause: shops count as well."),
    plain("Conclusion", "Plant along the ways to stations first."),
    plain("References", "In the style of APA.", References=["National survey (2025)"]),
    plain("Appendix", "The questionnaire, in Indonesian."),
    plain("Title", "Walking in the Shade"),
)
REWIND_AFTER = "Results"
AGAIN = Stage(OUTLINE, ("The outline needs a chapter on ethics.",), "Six chapters; the fifth is on ethics.", {})
"""What the author goes back to, and behind which stage."""

Ask = Callable[[str, list[dict[str, Any]]], str]
"""A model: the system text and the messages, and what it answers."""


class Paper:
    """One paper: its conversation, its stages, and the folder that keeps both."""

    def __init__(self, folder: Path, ask: Ask, window: int = WINDOW) -> None:
        self._kept = folder / "paper.json"
        self._sections = folder
        self._ask = ask
        self.compactor = Compactor("gpt-5.4", window=window, reserve=0, policy="paper")
        self.messages: list[dict[str, Any]] = []
        self.approved: list[str] = []
        if self._kept.exists():
            kept = json.loads(self._kept.read_text("utf-8"))
            self.messages, self.approved = kept["messages"], kept["approved"]
            self.compactor.load(kept["state"])

    def work(self, stage: Stage) -> None:
        """Works at a stage until it is approved, and keeps its section."""
        (self.compactor.reopen if stage.name in self.approved else self.compactor.stage)(stage.name)
        for words in stage.asks:
            self._say(words)
        self.compactor.close_stage(stage.name, digest=stage.decided, lists=stage.lists)
        self.approved.append(stage.name)
        spoken = [message["content"] for message in self.messages if message["role"] == "assistant"]
        (self._sections / f"{stage.name.lower()}.md").write_text(f"# {stage.name}\n\n{spoken[-1]}\n", "utf-8")
        self._keep()

    def _say(self, words: str) -> None:
        self.messages.append({"role": "user", "content": words})
        system = f"You guide the writing of a paper.\n\n{self.compactor.digest()}\n\n{self.compactor.stage_notes()}"
        answer = self._ask(system, self.compactor.fit(self.messages, system=system))
        self.messages.append({"role": "assistant", "content": answer})

    def _keep(self) -> None:
        kept = {"messages": self.messages, "approved": self.approved, "state": self.compactor.dump().decode()}
        beside = self._kept.with_suffix(".new")
        beside.write_text(json.dumps(kept), "utf-8")
        beside.replace(self._kept)


def scripted(system: str, messages: list[dict[str, Any]]) -> str:
    """A model that knows what it is told: the outline that holds now, and what it was asked last."""
    outline = next(
        (line for line in system.splitlines() if line.startswith(f"- {OUTLINE}: ")), "There is no outline yet."
    )
    return f"As you ask: {messages[-1]['content']} {outline.removeprefix('- ')} " + "The text goes on from there. " * 24


def plan() -> list[Stage]:
    """The stages in the order in which the author works at them."""
    at = [stage.name for stage in STAGES].index(REWIND_AFTER) + 1
    return [*STAGES[:at], AGAIN, *STAGES[at:]]


def main(folder: Path, ask: Ask = scripted) -> None:
    """Writes the paper, from where it was left."""
    folder.mkdir(parents=True, exist_ok=True)
    paper = Paper(folder, ask)
    for stage in plan()[len(paper.approved) :]:
        before = len(paper.compactor.folds)
        paper.work(stage)
        layers = [fold.layer for fold in paper.compactor.folds[before:]]
        print(f"{stage.name:13} {paper.compactor.count.tokens:6,} tokens  {', '.join(layers)}".rstrip())
    print(f"\n{len(paper.messages)} messages, {len(paper.compactor.folds)} folds\n\n{paper.compactor.digest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "paper"))
