"""Facts about people: extraction, similarity, MEMORY.md, nightly work."""
