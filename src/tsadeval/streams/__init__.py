"""Streams: evaluation of series that are larger than memory or not yet complete, batch by batch."""
