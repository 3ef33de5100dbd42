"""What is run from a clone alone: how fast the engine is, where its time goes; the set-up."""
