"""Who may do what, and how much: permissions, roles, pairing, budgets, deletion, audit."""
