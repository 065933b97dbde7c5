"""foldline keeps an LLM agent inside its context window for as long as its work takes, and loses nothing on the way."""

__version__ = "0.1.0"
