"""What a test cell uses: answers, observations, checks and their table."""
