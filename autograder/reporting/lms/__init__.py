"""What Moodle and Canvas take back: grades and pages."""
