"""Comparison of detectors: tables of values on one series or on many."""
