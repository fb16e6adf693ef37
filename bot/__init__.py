"""What decides: wiring, turns, models, tools, commands."""
