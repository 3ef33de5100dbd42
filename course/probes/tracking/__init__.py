"""What the tests of lesson 15 need: event files, logs, searches and the folders they leave."""
