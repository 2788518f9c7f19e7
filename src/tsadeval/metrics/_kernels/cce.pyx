"""CCE of runs whose count, mean and variance are known: O(runs), and the only place with its formulas."""

from libc.math cimport exp, INFINITY, NAN

import numpy as np

# The estimators of an event's uncertainty, by the names users know.
UNCERTAINTIES = {"beta": 0, "pointwise": 1, "scaled": 2}

cdef enum:
    BETA = 0
    POINTWISE = 1
    SCALED = 2


cdef struct Event:
    double alpha
    double beta
    double uncertainty
    double confidence
    double score


cdef Event judge(
    double mean, double variance, bint anomalous, double tau, bint constrained, int estimator, double gamma
) noexcept nogil:
    cdef Event e
    cdef double strength, total, share
    if estimator == POINTWISE:
        # Per point Beta(gamma s + 1, gamma (1 - s) + 1); the mean of its variances is a quadratic in s, so it
        # follows from mean and variance. Alpha and beta are those of the mean score.
        e.alpha = gamma * mean + 1
        e.beta = gamma * (1 - mean) + 1
        # Quotients first: the square of a huge gamma is no number.
        share = gamma / (gamma + 2)
        e.uncertainty = (share * share * (mean - mean * mean - variance)
                         + (gamma + 1) / (gamma + 2) / (gamma + 2)) / (gamma + 3)
    else:
        # By the method of moments. A constant event is the limit of ever narrower ones: infinite parameters.
        # So is one whose mean rounds to a bound: scores in [0, 1] then all lie within a rounding of it.
        e.alpha = e.beta = INFINITY
        if variance > 0 and 0 < mean < 1:
            strength = mean * (1 - mean) / variance - 1
            if strength < 0:  # scores in {0, 1} up to rounding
                strength = 0
            e.alpha = mean * strength
            e.beta = (1 - mean) * strength
        e.uncertainty = variance  # a Beta fitted by moments has the variance it was fitted to
        if estimator == SCALED:
            e.alpha = gamma * e.alpha + 1
            e.beta = gamma * e.beta + 1
            total = e.alpha + e.beta
            e.uncertainty = (e.alpha / total) * (e.beta / total) / (total + 1) if total < INFINITY else 0
    e.confidence = mean - tau if anomalous else 1 - tau - mean
    if constrained and e.confidence < 0:
        e.confidence = 0
    e.score = e.confidence * exp(-e.uncertainty)
    return e


def parts(
    const long long[::1] counts, const double[::1] means, const double[::1] variances, int first_label,
    double tau, bint constrained, str uncertainty, double gamma,
):
    """Per class (normal, anomalous): (mean score of its events, score, mean and variance of all its points).

    The pooled moments are those of all points of the class as one event. NaN where the class is missing.
    """
    cdef int estimator = UNCERTAINTIES[uncertainty]
    cdef Py_ssize_t k, start
    cdef int label
    cdef double points, weighted, mean, spread, away, total, events
    result = []
    for label in range(2):
        start = 0 if label == first_label else 1
        if start >= counts.shape[0]:
            result.append((NAN, NAN, NAN, NAN))
            continue
        points = weighted = spread = total = events = 0
        for k in range(start, counts.shape[0], 2):
            points += counts[k]
            weighted += counts[k] * means[k]
            total += judge(means[k], variances[k], label, tau, constrained, estimator, gamma).score
            events += 1
        mean = weighted / points
        for k in range(start, counts.shape[0], 2):
            away = means[k] - mean
            spread += counts[k] * (variances[k] + away * away)
        spread /= points
        pooled = judge(mean, spread, label, tau, constrained, estimator, gamma).score
        result.append((total / events, pooled, mean, spread))
    return result


def judge_events(
    const double[::1] means, const double[::1] variances, int first_label,
    double tau, bint constrained, str uncertainty, double gamma,
):
    """Alpha, beta, uncertainty, confidence and score of every run, one row each."""
    cdef int estimator = UNCERTAINTIES[uncertainty]
    cdef Py_ssize_t k
    cdef Event e
    table = np.empty((5, means.shape[0]))
    cdef double[:, ::1] out = table
    for k in range(means.shape[0]):
        e = judge(means[k], variances[k], (k + first_label) % 2, tau, constrained, estimator, gamma)
        out[0, k] = e.alpha
        out[1, k] = e.beta
        out[2, k] = e.uncertainty
        out[3, k] = e.confidence
        out[4, k] = e.score
    return table
