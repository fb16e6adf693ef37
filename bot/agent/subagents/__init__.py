"""Sub-agents: hidden conversations that work on one task each, with fewer rights, and report one outcome."""
