"""Experiments: detectors trained on data sets (`tsadeval.detect`), and metrics of many files of scores."""
