"""What is kept of every conversation, and what of it a model is shown."""
