"""Experiments: detectors trained on data sets, their scores kept and evaluated. Public function: `tsadeval.detect`.

`scores` needs NumPy and the detector's own library only, so that scores can be made on any machine and judged here.
"""
