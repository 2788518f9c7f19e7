"""Detectors on data sets: train, keep the scores, judge them. The public door is `tsadeval.detect`.

`scores` needs NumPy and the detector's own library only, so that scores can be made on any machine and judged here.
"""
