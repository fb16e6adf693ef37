"""`mnema init` and `mnema config`: making config.json with questions, and changing it."""
