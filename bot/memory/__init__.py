"""Memory services of a running bot."""
