"""The answers that a lesson must accept and refuse, and the gate that tries them."""
