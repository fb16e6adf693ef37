"""Web pages and web search, through a client that reaches public addresses only."""
