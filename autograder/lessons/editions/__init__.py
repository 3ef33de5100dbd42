"""What every edition of a lesson has in common for its readers."""
