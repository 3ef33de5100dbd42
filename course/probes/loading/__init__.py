"""Probes of how data is drawn, fetched and moved."""
