"""The parts that every request of a conversation begins with, and the files they are made of."""
