"""The package as people get it: what is in the wheel, and each way in, in an environment that holds
nothing else.
"""
