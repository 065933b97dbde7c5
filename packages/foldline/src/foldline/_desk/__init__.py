"""Where a session is opened, a fold planned and written: for the command line, MCP and the browser alike."""
