"""Readers of users' tables: csv, Parquet, npy and npz files with labels and scores."""
