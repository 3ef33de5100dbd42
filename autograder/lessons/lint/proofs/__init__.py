"""Running the proofs of claims that changed, in a process of their own."""
