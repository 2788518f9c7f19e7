"""The leaderboard: a static site built from score files."""
