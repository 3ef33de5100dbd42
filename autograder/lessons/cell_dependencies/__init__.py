"""What cells of a notebook need of each other: which need not run, which see the same state."""
