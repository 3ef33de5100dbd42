"""Questions in words, marked one at a time and without names."""
