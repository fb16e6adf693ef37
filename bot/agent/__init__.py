"""The agent loop: one turn, its context, folds and tool calls."""
