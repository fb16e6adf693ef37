"""Sub-agents: hidden conversations that each do one task with fewer rights and report once."""
