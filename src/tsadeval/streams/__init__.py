"""Streams: series larger than memory, or not yet ended, evaluated part by part."""
