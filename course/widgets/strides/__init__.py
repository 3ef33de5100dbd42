"""Explorers of one storage: the walk through it."""
