"""Incidents and ignored spans: read, laid on time stamps as labels, and labels as intervals again."""
