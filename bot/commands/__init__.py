"""What a person may ask the bot itself for: one registry for every channel."""
