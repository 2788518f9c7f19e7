"""Scores as people bring them: tables, files and arrays, read as scorings."""
