"""What a summary by a model costs besides the model's own time, and what code saves where the model forgets.

    python benchmarks/summaries.py [--runs N]

The session holds 100,000 tokens. The model answers at once: a server on loopback plays its part, so that what is
measured is ours: reading the facts, building the request, the client, checking, repairing, installing. The server's
own share of the CPU is in the figure. A swap is the step of an agent in which a prepared summary is put in place.

Facts are what a summary must show of the messages that it replaces: the task as it is now, the rules that stand, the
errors that are open, the changed files. Older requests are not among them: they are told as far as there is room, and
recalled. The forgetful draft holds half of the lines of an extraction, and none of the user's words.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring import Figure, Row, figure, heading, milliseconds, options, table
from sessions import as_chat, working_session

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

TOKENS = 100_000
KEEP = 5_000
AHEAD = 0.1


def rows(asked: Namespace) -> list[Row]:
    """The table's lines."""
    runs = max(3, asked.runs // 3)
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        path = Path(folder, "session.jsonl")
        working_session(path, TOKENS)
        history = as_chat(path)
    return [
        heading(f"a summary of {TOKENS:,} tokens, besides the model's time"),
        *_overheads(history, runs),
        Row("swap of a prepared summary, the whole step (wall clock)", _swap(history, runs), 5.0),
        heading("facts that a summary does not show, in % of all"),
        *_losses(history),
    ]


def _overheads(history: list[dict[str, Any]], runs: int) -> list[Row]:
    from foldline.extend import extract

    def fold(summarizer: Any) -> Figure:
        compactors = [_compactor(history, summarizer) for _ in range(runs)]
        return milliseconds(lambda compactor: compactor.fold(history), runs, compactors.pop, collect=True)

    extraction = fold(extract)
    found = [Row("fold with a draft that is there at once", fold(forgetful), 300.0, "extraction", extraction)]
    try:
        from foldline import ModelSummarizer
        from providers import Provider, says

        with Provider(says(GOOD)) as provider:
            summarizer = ModelSummarizer("demo-1", base_url=provider.url)
            _compactor(history, summarizer).fold(history)
            found.append(Row("fold with a model on loopback", fold(summarizer), 300.0, "extraction", extraction))
    except Exception as error:  # noqa: BLE001
        found.append(Row(f"fold with a model on loopback: not measured ({type(error).__name__})", None))
    return found


def _compactor(history: list[dict[str, Any]], summarizer: Any, **more: Any) -> Any:
    """A compactor that has read the history, as it has when a step asks for a fold."""
    from foldline import Compactor, Layer
    from foldline.extend import policy, summarize_older

    layers = policy("summaries", [Layer("summarize", 0.9, 0.5, (summarize_older(keep=KEEP),))])
    compactor = Compactor(window=10 * TOKENS, reserve=0, policy=layers, summarizer=summarizer, **more)
    compactor.fit(history)
    return compactor


def _swap(history: list[dict[str, Any]], runs: int) -> Figure:
    """Milliseconds of the step that reaches the mark, once the summary is ready."""
    from foldline.extend import budget

    times = []
    for _ in range(runs):
        compactor = _compactor(history[:-20], forgetful, ahead=AHEAD)
        compactor.budget = budget(round(compactor.count.tokens / 0.89), 0)
        compactor.fit(history[:-19])
        while compactor.preparing and not compactor._folds.prepared.ready:
            time.sleep(0.01)
        compactor.budget = budget(round(compactor.count.tokens / 0.91), 0)
        began = time.perf_counter()
        compactor.fit(history[:-18])
        times.append((time.perf_counter() - began) * 1_000)
        assert compactor.folds, "nothing was swapped in"
        assert compactor.folds[0].receipt.waited < 0.001
    return figure(times)


def _losses(history: list[dict[str, Any]]) -> list[Row]:
    """What a forgetful model loses with repair, and without it, and what extraction loses in the same tokens."""
    from foldline import Brief
    from foldline._facts.reading import facts_of
    from foldline._facts.verify import audit
    from foldline._page.task import task
    from foldline.extend import decode, extract

    def folded(summarizer: Any) -> tuple[str, list[Any]]:
        """The summary that a fold installs, and the messages that it replaces."""
        compactor = _compactor(history, summarizer)
        sent = compactor.fold(history)
        text = next(m.summary for m in map(_decoded, sent) if m.summary).text
        return text, [decode(item, "openai-chat") for item in history[: len(history) - len(sent) + 1]]

    def lost(text: str, messages: list[Any]) -> Figure:
        facts = facts_of(messages)
        found, wanted = audit(facts, (text,)), task(facts).words
        missing = [name for name in found.lost if not name.startswith("request: ")]
        missing += [words for words in wanted if words not in text]
        due = found.kept + len(found.lost) - len(facts.requests) + len(wanted)
        return figure([100 * len(missing) / due], "%")

    repaired, messages = folded(forgetful)
    tokens = Brief(4_000, reserved=1_500)
    return [
        Row("forgetful draft, repaired", lost(repaired, messages), 5.0, "extraction", lost(*folded(extract))),
        Row("forgetful draft as it is", lost(forgetful(tokens, messages), messages)),
    ]


def _decoded(item: dict[str, Any]) -> Any:
    """A message as it was handed out; the summary is told by its frame."""
    from foldline import Message, Summary
    from foldline.extend import SUMMARY_PREFIX

    text = item.get("content")
    framed = isinstance(text, str) and text.startswith(SUMMARY_PREFIX)
    return Message("user", (Summary(text),)) if framed else Message("user")


def forgetful(brief: Any, messages: Sequence[Any]) -> str:
    """Half of what an extraction says, and none of the user's words; worked out once for each brief."""
    from foldline.extend import extract

    key = (brief.max_tokens, brief.reserved, len(messages))
    if key not in _DRAFTS:
        chance = random.Random(7)
        lines = extract(brief, messages).text.split("\n")
        kept = [line for line in lines if line.startswith("#") or (line[:1] != ">" and chance.random() < 0.5)]
        _DRAFTS[key] = "\n".join(kept)[: 3 * (brief.max_tokens - brief.reserved)]
    return _DRAFTS[key]


_DRAFTS: dict[tuple[int, int, int], str] = {}

GOOD = "\n".join(
    f"## {name}\n- The invoices are written once."
    for name in ("Goal", "Constraints", "Done", "In progress", "Decisions", "Next steps", "Critical context")
)


if __name__ == "__main__":
    table(rows(options(__doc__).parse_args()))
