"""One call of a model, from the check before it to what an overflow or a reply that was cut off asks for."""
