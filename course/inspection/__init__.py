"""What is true of a tensor: storage, strides, version, leaf, graph."""
