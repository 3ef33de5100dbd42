"""Probes of what is saved, opened and resumed, in folders that are gone afterwards."""
