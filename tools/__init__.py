"""What only a developer runs: how fast the engine is, and where its time goes."""
