"""Units of work on conversations: inbox, turns, folds, outbox."""
