"""The rules that every lesson keeps, each with cause and remedy."""
