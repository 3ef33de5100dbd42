"""How the simulated device runs an operator."""
