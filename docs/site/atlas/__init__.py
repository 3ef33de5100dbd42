"""The atlas: every claim with its verdict, its fact, and what its proof showed on this build."""
