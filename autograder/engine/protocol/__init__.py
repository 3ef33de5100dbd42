"""What grader, student and checker processes say to each other: frames on sockets."""
