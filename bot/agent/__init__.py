"""The agent loop: one turn, its context, folds, tool calls and approvals."""
