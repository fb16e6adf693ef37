"""Between the channels and the store: what arrives, what is sent."""
