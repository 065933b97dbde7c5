"""What agents that speak MCP are served: recall, the state of a session, and folding it."""
