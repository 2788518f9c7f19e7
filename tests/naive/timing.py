"""Metrics in time, one event and one alarm at a time; `t` are the stamps and one more for the end of the last point."""

from .event_level import detected_events, false_runs
from .events import events
from .tolerance import ones


def observed(t):
    """The time that each point stands for: to the next one, but no more than 20 times the median of these times."""
    steps = [t[i + 1] - t[i] for i in range(len(t) - 1)]
    between = sorted(steps[:-1]) or steps  # the last one is no step between two stamps
    median = between[len(between) // 2]
    return [min(step, 20 * median) for step in steps]


def delays(y, p, t):
    """Of every event that is detected."""
    return [t[next(i for i in range(a, b) if p[i])] - t[a] for a, b in detected_events(y, p)]


def early_events(y, t, early):
    """Events that begin earlier, but leave a point after the one before."""
    found, last = [], -1
    for start, stop in events(y):
        begin = min([i for i in range(last + 1, start) if t[start] - t[i] <= early], default=start)
        found.append((begin, stop))
        last = stop
    return found


def leads(y, p, t, horizon):
    """Of every event that has a warning."""
    found = []
    for (begin, _), (start, _) in zip(early_events(y, t, horizon), events(y), strict=True):
        warnings = [i for i in range(begin, start) if p[i]]
        if warnings:
            found.append(t[start] - t[warnings[0]])
    return found


def event_recall(y, p, t, early):
    found = [any(p[i] for i in range(a, b)) for a, b in early_events(y, t, early)]
    return sum(found) / len(found)


def false_alarms(y, p, t, per, early=0, ignored=()):
    """False alarm runs per time of normal points."""
    wide = [0] * len(y)
    for a, b in early_events(y, t, early):
        wide[a:b] = [1] * (b - a)
    lasting = observed(t)
    normal = sum(lasting[i] for i in range(len(y)) if not y[i] and i not in ignored)
    return len(false_runs(wide, p)) * per / normal if normal else None


def tolerant(y, p, t, k):
    """(precision, recall) with a tolerance in time; precision is None without alarms."""
    near = [i for i in ones(y) if any(abs(t[i] - t[j]) <= k for j in ones(p))]
    right = [i for i in ones(p) if any(abs(t[i] - t[j]) <= k for j in ones(y))]
    return len(right) / len(ones(p)) if ones(p) else None, len(near) / len(ones(y))


def alarm_episodes(p, t, gap, shortest):
    """From the first alarm to the end of the time that was observed at the last."""
    found, lasting = [], observed(t)
    for i in ones(p):
        if found and t[i] - found[-1][1] <= gap:
            found[-1] = (found[-1][0], t[i] + lasting[i])
        else:
            found.append((t[i], t[i] + lasting[i]))
    return sum(stop - start >= shortest for start, stop in found)


def time_in_alarm(p, t, ignored=()):
    judged = [i for i in range(len(p)) if i not in ignored]
    lasting = observed(t)
    return sum(lasting[i] for i in judged if p[i]) / sum(lasting[i] for i in judged)


def time_to_recover(y, p, t):
    times, lasting = [], observed(t)
    for _, stop in detected_events(y, p):
        i = stop
        while p[stop - 1] and i < len(y) and p[i] and not y[i]:
            i += 1
        times.append(sum(lasting[stop:i]))
    return sum(times) / len(times) if times else None


def expected_cost(y, p, t, miss, false_alarm, delay):
    missed = len(events(y)) - len(detected_events(y, p))
    return miss * missed + false_alarm * len(false_runs(y, p)) + delay * sum(delays(y, p, t))
