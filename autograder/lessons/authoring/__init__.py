"""New lessons and exercises, their numbers, and a tidy source."""
