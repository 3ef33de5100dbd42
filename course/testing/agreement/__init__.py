"""Whether an answer does what a reference does, over many inputs: one request, one check."""
