"""Reports: pages about one or several detectors."""
