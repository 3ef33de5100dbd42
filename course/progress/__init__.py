"""What a learner has done, and the start page that says so."""
