"""Runs of equal labels, one point at a time."""


def runs(labels):
    """(start, stop, label) of every maximal run of equal labels, half-open."""
    found = []
    for i, label in enumerate(labels):
        if found and found[-1][2] == label:
            found[-1][1] = i + 1
        else:
            found.append([i, i + 1, int(label)])
    return [tuple(run) for run in found]


def events(labels, value=1):
    """(start, stop) of every maximal run of the value, half-open."""
    return [(start, stop) for start, stop, label in runs(labels) if label == value]
