"""Values that a check of options must refuse: the common tests feed them to every option."""

import math

from tsadeval.core.parameters import Flag, Number, OneOf


def refused_values(check):
    if isinstance(check, Flag):
        return ["yes", 1, None]
    if isinstance(check, OneOf):
        return ["no such choice", 3, 0.5]
    if isinstance(check, Number):
        values = ["high", math.nan, math.inf, True, [1.0]]
        if math.isfinite(check.low):
            values += [check.low - 1] + ([check.low] if check.open_low else [])
        if math.isfinite(check.high):
            values += [check.high + 1]
        if check.integer:
            values += [1.5, 10**400]
        return values if check.none else [*values, None]
    return [0.5, (0.9, 0.1), (check.low - 1, check.high), (check.low,), "ab", (math.nan, check.high)]
