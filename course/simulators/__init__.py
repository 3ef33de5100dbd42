"""Loader and sampler in plain Python, with every step in the open."""
