"""How a summary is asked for, and in which words it stands in the history: data of a policy."""

from __future__ import annotations

from typing import Literal

from foldline._messages import Value


class Wording(Value, frozen=True, omit_defaults=True):
    """How a summary is asked for and worded; what is not stated is foldline's own.

    It is a message of the `role` (of the user where the provider takes no other there), with `prefix` and `suffix` around
    it and a `heading` above it. Behind it may stand what the assistant has `acknowledged` it with, and behind a fold that
    nobody asked for a message that follows up. `{round}` in a text is the number of the fold.

    A model is asked with `prompt`, where `{round}` and `{task}`, the user's first request, are filled in, for `sections`,
    at `temperature`, and for a reply of at most `reply` tokens. `model` is the one that is meant, "current" the one that
    the agent uses. A summary takes at most `max_tokens`. Where the model fails, `fallback` stands instead, with the number
    of `{messages}` and the `{topics}` that they were about; one that is `optional` is left out. `points` asks for a few
    points instead of a page, the fewest and the most of them, to which code adds nothing.
    """

    role: Literal["user", "assistant", "system"] = "user"
    prefix: str | None = None
    suffix: str | None = None
    heading: str = ""
    acknowledged: str = ""
    follow_up: str = ""
    prompt: str | None = None
    sections: tuple[str, ...] = ()
    temperature: float | None = None
    reply: int | None = None
    model: str = ""
    max_tokens: int | None = None
    fallback: str = ""
    optional: bool = False
    points: tuple[int, int] | None = None

    def frame(self, round: int) -> tuple[str, str] | None:
        """The words before and behind a summary; None for foldline's own."""
        if self.prefix is None and self.suffix is None and not self.heading:
            return None
        heading = f"{self.heading}\n\n" if self.heading else ""
        return f"{self.prefix or ''}{heading}".replace("{round}", str(round)), self.suffix or ""
