"""The wires to language models, and the models that need none."""
