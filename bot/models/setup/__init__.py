"""Setting a model up: presets of servers, the list of what one has, and its test."""
