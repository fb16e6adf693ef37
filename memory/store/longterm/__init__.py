"""Units of work on long-term memory: lines, extraction, dreams, links, labels, views."""
