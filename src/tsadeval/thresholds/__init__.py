"""Thresholds: how scores become alarms, and which threshold is best for a metric."""
