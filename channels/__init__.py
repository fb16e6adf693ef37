"""Chat platforms: one package for each, the protocol they implement, and what they share."""
