"""What a person may ask the house itself for: one registry for every channel."""
