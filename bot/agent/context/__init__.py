"""What the model sees of a conversation: fitting it into limits, recording and reporting it."""
