"""Pages: the report of one or several detectors, and the leaderboard, a static site made from score files."""
