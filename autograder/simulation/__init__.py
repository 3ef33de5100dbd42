"""Simulated classes, faults to try the grader on, and the benchmark."""
