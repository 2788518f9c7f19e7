"""The best threshold: every distinct score is tried."""

SAME = 1e-13  # values that differ by less are equal up to rounding


def best(function, y, s, *, lower=False, **options):
    """(v, value) of the alarms `score >= v` that are best; of several best the largest v. None where all are undefined.

    A function that returns several numbers has F as the last of them.
    """
    tried = []
    for v in sorted({float(score) for score in s}, reverse=True):
        found = function(y, [int(score >= v) for score in s], **options)
        value = found[-1] if isinstance(found, tuple) else found
        if value is not None:
            tried.append((v, float(value)))
    if not tried:
        return None
    sign = -1 if lower else 1
    highest = max(sign * value for _, value in tried)
    return next((v, value) for v, value in tried if sign * value >= highest - SAME)
