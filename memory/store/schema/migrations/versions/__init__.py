"""The revisions; a released one is never edited."""
