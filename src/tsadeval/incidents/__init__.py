"""Incidents and ignored spans: reading them, converting them to labels of points, and labels to intervals."""
