"""The sections of config.json, each key with its type, range, default, texts and example."""
