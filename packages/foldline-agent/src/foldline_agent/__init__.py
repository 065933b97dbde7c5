"""A small coding agent that works for as long as it takes: one loop that tells events, and faces that draw them."""

__version__ = "0.1.0"
