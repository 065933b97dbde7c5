"""Counting: what a text, a message and a request take, in tokens."""
