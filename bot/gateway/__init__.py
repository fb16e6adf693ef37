"""Between channels and store: receives messages, sends replies and notices, handles attachments."""
