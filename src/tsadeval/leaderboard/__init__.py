"""The leaderboard, a static site made from score files."""
