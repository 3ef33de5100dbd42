"""The index explorer: which slots an expression touches, as a view or as a copy."""
