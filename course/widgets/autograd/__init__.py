"""What autograd keeps count of, to walk through."""
