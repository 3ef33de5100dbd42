"""The fork server: torch and the course loaded once, then a fork for each submission."""
