"""One step each: these are never edited once released."""
