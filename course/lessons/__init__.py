"""What one lesson alone needs: a folder for each, named as the lesson without its number."""
