"""A provider's client that keeps each conversation sent through it inside its window."""
