"""The durable record: what came in, what was said and done, what goes out, and which folds stand for what."""
