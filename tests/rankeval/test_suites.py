"""What all suites have in common: options by text and by keyword, one kind of result, and its views."""

import pickle

import pytest

import tsadeval as te
from tsadeval.errors import InvalidParameterError
from tsadeval.rankeval.run import choose_suite

SUITES = te.rankeval.SUITES


def test_the_suites_by_name():
    assert {"quick", "paper", "paper-text", "standard", "hard", "audit", "selection"} <= set(SUITES)
    for name, suite in SUITES.items():
        assert suite.name == name
        assert suite.summary
        assert all(hasattr(suite, option) for option in suite.options)


def test_options_stand_in_brackets_or_beside():
    assert choose_suite("hard(repeats=20, seed=3)") == choose_suite("hard", repeats=20, random_state=3)
    assert choose_suite("hard(repeats=20)", repeats=5).repeats == 5
    assert choose_suite("hard", repeats=None, cases=None) == SUITES["hard"]
    assert choose_suite("quick(tasks=[AccQ])").tasks == SUITES["quick"].tasks[:1]
    assert choose_suite(SUITES["hard"], tasks="rare").tasks == (te.rankeval.HARD_TASKS["rare"],)
    assert (choose_suite("audit").by, choose_suite("audit", by=None).by) == ("series", None)


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ("hard(3)", r"cannot read 'hard\(3\)': write hard\(option=value\)"),
        ("hard(repeat=2)", "suite 'hard' has no repeat: .* its options are tasks, repeats, random_state"),
        ("hard(repeats=0)", "repeats must be an integer >= 1"),
        ("hard(seed=-1)", "rankeval.run: seed must be"),
        ("paper(seed=1)", "suite 'paper' has the published seeds"),
        ("audit(cases=[a])", "suite 'audit' has no cases"),
    ],
)
def test_bad_options_are_refused(suite, message):
    with pytest.raises(InvalidParameterError, match=message):
        te.rankeval.run(suite)


def test_latex_has_the_notes_as_comments():
    def fails(y_true, y_score):
        raise ValueError("one\ntwo")  # a line break must not end the comment

    result = te.rankeval.run("hard(repeats=1)", [fails, "ears"], tasks=["delay"])
    notes = result.to_latex().rpartition(r"\end{tabular}")[2]
    assert {line[:2] for line in notes.splitlines()[1:]} == {"% "}
    assert "ValueError: one" in notes
    assert "% two" in notes


def test_scores_are_for_the_audit_only():
    with pytest.raises(InvalidParameterError, match="suite 'hard' has models of its own: leave scores out"):
        te.rankeval.run("hard", "ears", {"label": [0, 1], "a": [0.1, 0.2]})


def test_results_are_of_one_class_and_have_the_views_of_their_suite():
    quick = te.rankeval.run("quick", "cce", cases="10k-20seg-50H", tasks="AccQ")
    hard = te.rankeval.run("hard(repeats=1)", ["f1", "ears"], tasks=["delay", "glitch"])
    assert type(quick) is type(hard) is te.rankeval.SuiteResult
    assert isinstance(quick.table(), te.rankeval.SuiteTable)
    assert {"latency", "robustness", "sensitivity"} <= set(dir(quick))
    assert not hasattr(hard, "latency")
    with pytest.raises(AttributeError, match="no 'agreement': suite quick has robustness, latency, sensitivity"):
        quick.agreement()
    quick._analysis = object()  # that of a user's suite need not have any
    assert "table" in dir(quick)
    with pytest.raises(AttributeError, match="no 'agreement': suite quick has no views"):
        quick.agreement()
    again = pickle.loads(pickle.dumps(hard))
    assert repr(again) == repr(hard)
    assert again.sensitivity().rows == hard.sensitivity().rows
    why = pickle.loads(pickle.dumps(hard.explain("f1")))
    assert len(why.cases(why.rows[0])[0].scores) == 10_000
