"""Agreement of labels and alarms that are near each other, one pair of points at a time."""

from fractions import Fraction

from .event_level import f_beta


def near(points, others, tolerance):
    return [i for i in points if any(abs(i - j) <= tolerance for j in others)]


def ones(labels):
    return [i for i, label in enumerate(labels) if label]


def time_tolerant(y, p, tolerance=5, beta=1.0):
    """(precision, recall, F); precision is None where it is undefined."""
    anomalous, alarmed = ones(y), ones(p)
    recall = Fraction(len(near(anomalous, alarmed, tolerance)), len(anomalous))
    precision = Fraction(len(near(alarmed, anomalous, tolerance)), len(alarmed)) if alarmed else None
    return precision, recall, f_beta(precision, recall, beta)


def total_detected_in_range(y, p, tolerance=5):
    return float(Fraction(len(near(ones(y), ones(p), tolerance)), len(ones(y))))


def detection_accuracy_in_range(y, p, tolerance=5, false="far"):
    """None where nothing is alarmed."""
    anomalous, alarmed = ones(y), ones(p)
    if not alarmed:
        return None
    found = len(near(anomalous, alarmed, tolerance))
    right = near(alarmed, anomalous, tolerance) if false == "far" else [i for i in alarmed if y[i]]
    return float(Fraction(found, found + len(alarmed) - len(right)))
