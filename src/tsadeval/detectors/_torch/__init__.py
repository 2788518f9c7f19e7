"""Networks of the deep detectors, and their common training loop. Everything here imports torch."""
