"""The simulated GPU: a device type of torch that computes on the CPU."""
