"""The platforms' wires: each module hears and speaks for one of them, and knows nothing of what is answered."""
