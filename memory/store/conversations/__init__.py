"""Units of work on conversations: inbox, turns, folds, ledger, outbox, usage and traces."""
