"""Units of work on people: rights, their removal, and what they may spend."""
