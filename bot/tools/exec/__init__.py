"""Runs commands of the model in a sandbox without network, once their owner has approved them."""
