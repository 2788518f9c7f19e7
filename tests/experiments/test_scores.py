"""Kept scores: their files, where they came from, those made elsewhere, and the page that is written from them."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tsadeval as te
from detecting import Broken, Distance, trainings
from tsadeval.datasets.dataset import Split, assemble
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.detect import read
from tsadeval.experiments.specs import DetectorSpec, Source, keep_scores
from tsadeval.reproduction import reproduce
from tsadeval.reproduction.printed import printed
from tsadeval.scores.cache import checked_scores, scores_path

ROOT = Path(__file__).parents[2]


def test_foreign_scores_are_used_where_they_belong_to_the_data_and_refused_elsewhere(tmp_path, files, log):
    here, there = tmp_path / "here", tmp_path / "there"
    source = Source.of(files[0])
    made = keep_scores(source.load(), Distance(log), there, name=source.name)
    assert made.fresh
    assert not keep_scores(source.load(), Distance(log), there, name=source.name).fresh
    path = scores_path(there, source.name, DetectorSpec.of(Distance(log)).text)
    target = here / path.relative_to(there)
    target.parent.mkdir(parents=True)
    target.write_bytes(path.read_bytes())
    result = te.detect(files[0], Distance(log), "cce", store=here)
    assert trainings(log) == 1
    assert result.to_frame()["fit_seconds"].tolist() == [made.provenance["fit_seconds"]]
    other = Source.of(files[1])
    wrong = scores_path(here, other.name, DetectorSpec.of(Distance(log)).text)
    wrong.parent.mkdir(parents=True)
    wrong.write_bytes(path.read_bytes())
    (line,) = te.detect(files[1], Distance(log), "cce", store=here).failures()
    assert "holds scores of other data (checksum " in line
    assert "move the file away to compute them anew" in line
    assert trainings(log) == 1
    renamed = scores_path(here, other.name, "random")
    renamed.write_bytes(path.read_bytes())
    provenance = json.loads(str(np.load(path)["provenance"])) | {"checksum": other.load().description.checksum}
    np.savez(renamed, scores=made.scores, labels=made.labels, provenance=json.dumps(provenance))
    (line,) = te.detect(files[1], "random", "cce", store=here).failures()
    assert "holds scores of another detector (detector Distance@" in line


def test_labels_in_a_file_of_scores_must_be_those_of_the_data(tmp_path, files):
    source = Source.of(files[0])
    keep_scores(source.load(), "random", tmp_path, name=source.name)
    path = scores_path(tmp_path, source.name, "random")
    with np.load(path) as arrays:
        changed = {**arrays, "labels": ~arrays["labels"]}
    np.savez(path, **changed)
    (line,) = te.detect(files[0], "random", "cce", store=tmp_path).failures()
    assert f"random.npz holds other labels than {source.name}: move the file away" in line


@pytest.mark.parametrize("content", ["nothing", "no provenance", "half", "text"])
def test_a_file_that_holds_no_scores_is_named(tmp_path, files, content):
    source = Source.of(files[0])
    kept = keep_scores(source.load(), "random", tmp_path, name=source.name)
    path = scores_path(tmp_path, source.name, "random", 0)
    whole = path.read_bytes()
    np.savez(tmp_path / "bare.npz", scores=kept.scores, labels=kept.labels, provenance="{}")
    path.write_bytes(
        {"nothing": b"", "text": b"hello", "half": whole[:200], "no provenance": (tmp_path / "bare.npz").read_bytes()}[
            content
        ]
    )
    with pytest.raises(InvalidInputError, match=r"random.npz is not a file of cached scores .*; move it away") as said:
        keep_scores(source.load(), "random", tmp_path, name=source.name)
    assert "pickle" not in str(said.value)


def test_provenance_says_what_ran_on_what(tmp_path, files):
    source = Source.of(files[0])
    path = scores_path(tmp_path, source.name, "random")
    keep_scores(source.load(), "random", tmp_path, name=source.name)
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["scores"].dtype == np.float64
        assert arrays["labels"].dtype == np.bool_
        provenance = json.loads(str(arrays["provenance"]))
    assert provenance["detector"] == "random"
    assert provenance["dataset"] == source.name
    assert provenance["checksum"] == source.load().description.checksum
    assert provenance["fit_seconds"] >= 0
    assert "scikit-learn" in provenance["versions"]
    assert provenance["device"]


@pytest.mark.slow
def test_scores_can_be_made_where_neither_kernels_nor_tables_are(tmp_path):
    """The script for machines with a GPU, twice, without what such a machine may lack."""
    (tmp_path / "UCR").mkdir()
    x = np.random.default_rng(0).normal(size=300)
    np.savetxt(tmp_path / "UCR/007_UCR_Anomaly_mine_100_200_210.txt", x)
    missing = ["pandas", "pyarrow", "typer", "tsadeval.core._scan"]
    script = ROOT / "examples" / "train_scores.py"
    code = "import runpy, sys; sys.modules |= dict.fromkeys({}); runpy.run_path({!r}, run_name='__main__')"
    store = tmp_path / "store"
    arguments = ["--data", tmp_path, "--store", store, "--limit", "60", "--datasets", "ucr/7"]
    command = [
        sys.executable,
        "-c",
        code.format(missing, str(script)),
        *arguments,
        "--detectors",
        "random",
        "pca(window=400)",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    first, second = done.stdout.splitlines()
    assert first.startswith("ucr/007  random  fit 0.0 s, score 0.0 s, ")
    assert ": InvalidInputError: X has 100 points (n_samples=100), but the detector looks at 400 at once" in second
    assert done.returncode == 1
    result = te.detect("ucr/007", "random", "auc_roc", store=store, data=tmp_path)
    assert result.to_frame()["fit_seconds"].tolist() == [result.scores("ucr/007", "random").provenance["fit_seconds"]]
    again = subprocess.run([*command[:-1]], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert again.stdout.endswith("(kept already)\n")


def test_the_page_of_real_data_can_be_made(tmp_path):
    path = ROOT / "docs" / "make_real_data.py"
    spec = importlib.util.spec_from_file_location("make_real_data", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    x = np.random.default_rng(0).normal(size=(300, 1))
    data = [assemble(name, Split(x, x, np.arange(300) // 10 == 20, ("x",))) for name in ("ucr/125", "msl")]
    store = tmp_path / "store"
    te.detect(data, ["random", Distance(), Broken()], made.METRICS, store=store)
    rows = [reproduce._row("ecg", *key, paper, float(paper)) for key, paper in printed("ecg").items()]
    text = made.page(read(store), [("ECG", reproduce.Reproduction(rows, []))])
    assert "| Random | 2.82 (2.82) | 52.85 (52.85) | " in text
    assert "| LSTMAD, 10 seeds | 4.05 to 5.26; 9 below | " in text
    assert "--detectors 'random,Distance@" in text
    assert "## The average over data sets of the paper" in text
    assert "- Broken failed on msl: RuntimeError: out of paper" in text


def test_names_that_would_share_a_file_are_kept_apart():
    texts = ["a b", "a_b", "a:b", "a/b", "/a/b", "../a/b", "a//b", "./a_b", "é", "x" * 300, "x" * 301, ""]
    for paths in (
        {scores_path("store", text, "lof") for text in texts},
        {scores_path("store", "a", text or "none") for text in texts},
    ):
        assert len(paths) == len(texts)
        assert all(len(part.encode()) < 255 for path in paths for part in path.parts)
        assert all(path.resolve().is_relative_to(Path("store").resolve()) for path in paths)
    assert scores_path("store", "a_b", "lof").as_posix() == "store/scores/a_b/lof.npz"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array([2**60, 2**60 + 1]), "differ as int64 but not as 64-bit floats"),
        (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), "1 masked values"),
    ],
)
def test_scores_that_would_change_on_the_way_are_refused(scores, message):
    with pytest.raises(InvalidInputError, match=message):
        checked_scores(scores, "mine", 2)
