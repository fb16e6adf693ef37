"""A conversation with a real small model, by night: what breaks, what is lost, what is known at its
end.
"""
