"""How each framework says a message, for those whose messages are objects of their own."""
