"""Probes of work that is shared by several ranks: batches, stages, messages, files."""
