"""Access control: permissions, roles, pairing, budgets and the audit checkpoints."""
