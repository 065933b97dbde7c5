"""Writes docs/pages.md: what is left of sessions of several kinds, as `fold_to` hands them out.

    python scripts/make_pages.py

The sessions are those of `samples` and of `benchmarks/material/tune`, which were made for this repository.
"""

from __future__ import annotations

import json
from pathlib import Path

from foldline import Brief, Compactor, open_session
from foldline._tokens.weigh import weigh_all
from foldline.extend import decode_all, extract

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "pages.md"
SHARE = 0.2
SAMPLE_TOKENS = 2_000
RECORDED = (
    ("invoices.jsonl", "A day of coding with pi"),
    ("claude-code.jsonl", "A day of coding with Claude Code"),
    ("codex.jsonl", "A day of coding with Codex"),
    ("swe-agent.traj", "An issue, solved by SWE-agent"),
)
SHOWN = (
    ("service-en-02", "A customer-service dialogue with tools and a policy"),
    ("autonomous-en-02", "An autonomous run of an agent that acts by text"),
    ("crew-en-01", "A lead agent with sub-agents, whose reports stand in the user's role"),
    ("coding-ko-01", "Coding, in Korean"),
)
HEAD = """\
# Pages

What a fold without a model leaves: of the sample sessions of real clients the page alone, of the others all that `fold_to` hands out
at a fifth of the tokens, the newest messages behind the page. Nothing is paraphrased. `python scripts/make_pages.py` writes this file.
"""


def main() -> None:
    """Writes the file."""
    recorded = [sample(name, title) for name, title in RECORDED]
    OUT.write_text("\n".join([HEAD, *recorded, *(session(name, title) for name, title in SHOWN)]), "utf-8")


def sample(name: str, title: str) -> str:
    """The page of a session that a client recorded, all of it."""
    messages = [message for _, message in open_session(str(ROOT / "samples" / name)).context.entries]
    page = extract(Brief(SAMPLE_TOKENS), messages).text
    return _block(title, f"{round(sum(weigh_all(messages)), -3):,} tokens → {SAMPLE_TOKENS:,}", page)


def session(name: str, title: str) -> str:
    """What is left of a labelled session."""
    items = json.loads((ROOT / "benchmarks" / "material" / "tune" / f"{name}.json").read_text("utf-8"))["messages"]
    before = sum(weigh_all(decode_all(items, "openai-chat", [])))
    left = Compactor(window=10_000_000).fold_to(items, int(before * SHARE))
    told = "\n\n".join(
        f"[{m['role']}] {m.get('content') or m.get('tool_calls')}" for m in left if m["role"] != "system"
    )
    return _block(title, f"{before:,} tokens → {int(before * SHARE):,}", told)


def _block(title: str, size: str, text: str) -> str:
    return f"## {title}\n\n{size}\n\n~~~~text\n{text.rstrip()}\n~~~~\n"


if __name__ == "__main__":
    main()
