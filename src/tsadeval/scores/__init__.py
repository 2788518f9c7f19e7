"""Scores of users: read tables, files and arrays as scorings."""
