"""Replays recorded sessions under policies: what each costs, and what it forgets. Its face is `foldline replay`."""

__version__ = "0.1.0"
