"""The engine: cells of work (`cells`), their parallel run (`run`), durable results (`store`), cached scores (`scores`).

RankEval and experiments share it; each brings the layout of its rows and a function that computes chunks of cells.
"""
