"""What everything else stands on: inputs, events, metric records, registries, results."""
