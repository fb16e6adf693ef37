"""Long-term memory of a running bot: recall, facts, files and exports."""
