"""The owner's console: what the web page and scripts may ask of the bot beyond chatting."""
