"""What of a conversation the model sees: fitting it into its limits, recording what was shown, and reporting on it."""
