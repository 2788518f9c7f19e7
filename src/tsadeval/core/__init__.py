"""Core: inputs, events, times, metric records, registries and results, which all other packages use."""
