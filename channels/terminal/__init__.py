"""The terminal: a local chat, or a client of a running bot."""
