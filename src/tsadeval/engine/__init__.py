"""The engine: cells of work (`cell`), metrics and what they say (`candidates`, `judge`), `run` and `store`.

RankEval and the runs of detectors share it; each brings the layout of its rows and a function of its chunks.
"""
