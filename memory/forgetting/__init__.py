"""What a person asked to have forgotten: found, taken out of everything, and receipted."""
