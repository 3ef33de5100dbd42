"""Probes of how modules are built, wired and searched."""
