"""Downloads, from a server that the tests start, and the command line of data sets."""

import hashlib
import http.server
import json
import threading
from dataclasses import replace

import numpy as np
import pytest

import commands
import tsadeval as te
from data_files import UCR_NAME, lines, rows, smd, write, zipped
from tsadeval.datasets.dataset import DATASETS, Download, Facts
from tsadeval.datasets.loading import _wanted
from tsadeval.errors import InvalidInputError, TsadevalError, UnknownNameError


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; a file named in `broken` breaks off in the middle."""

    broken = ()

    def log_message(self, *about):
        """Quiet."""

    def do_GET(self):
        path = self.translate_path(self.path)
        if not any(path.endswith(name) for name in self.broken):
            return super().do_GET()
        with open(path, "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True


@pytest.fixture
def served(tmp_path):
    """A folder, its address on the web, and the handler that serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = type("Here", (Handler,), {})
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *given: handler(*given, directory=str(folder))
    ) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()


@pytest.fixture
def small(served, monkeypatch):
    """SMD with one small machine: the sha256 of its labels is known, that of its features is not."""
    folder, base, handler = served
    for kind in ("train", "test"):
        write(folder / kind / "machine-2-1.txt", lines(rows(300, 38)))
    labels = "0\n" * 290 + "1\n" * 10
    write(folder / "test_label" / "machine-2-1.txt", labels)
    sums = {"test_label": hashlib.sha256(labels.encode()).hexdigest()}
    downloads = tuple(
        Download(f"{base}/{kind}/machine-2-1.txt", f"{kind}/machine-2-1.txt", sums.get(kind, ""), "2-1")
        for kind in ("test_label", "train", "test")
    )
    facts = {"2-1": Facts(300, 300, 38, 1)}
    monkeypatch.setitem(DATASETS._all(), "smd", replace(DATASETS["smd"], downloads=downloads, facts=facts))
    return folder, base, handler


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["smd", "smd/2-1"])
def test_fetch(small, tmp_path, name):
    root = tmp_path / "new" / "data"
    told = []
    came = te.datasets.fetch(name, data=root, progress=lambda *given: told.append(given))
    assert came.by_checksum == ("test_label/machine-2-1.txt",)
    assert came.by_facts == ("train/machine-2-1.txt", "test/machine-2-1.txt")
    assert came.names == ("smd/2-1",)
    assert te.datasets.load("smd/2-1", data=root).train.shape == (300, 38)
    size = (small[0] / "test" / "machine-2-1.txt").stat().st_size
    assert told[-1] == ("test/machine-2-1.txt", size, size)
    # What is there and right is not fetched again.
    (small[0] / "test" / "machine-2-1.txt").unlink()
    te.datasets.fetch(name, data=root)


def test_a_mirror_serves_the_same_files(small, tmp_path, monkeypatch):
    record = DATASETS["smd"]
    away = tuple(replace(download, url="http://127.0.0.1:9/gone.txt") for download in record.downloads)
    monkeypatch.setitem(DATASETS._all(), "smd", replace(record, downloads=away))
    with pytest.raises(TsadevalError, match=r"http://127.0.0.1:9/gone.txt could not be downloaded \(ConnectionError\)"):
        te.datasets.fetch("smd", data=tmp_path / "a")
    assert te.datasets.fetch("smd", data=tmp_path / "b", base=small[1] + "/").names == ("smd/2-1",)


def test_a_wrong_checksum(small, tmp_path):
    write(small[0] / "test_label" / "machine-2-1.txt", "0\n" * 300)
    message = r"test_label/machine-2-1.txt does not have the expected sha256 [0-9a-f]{64}: .* it was not kept"
    with pytest.raises(TsadevalError, match=message):
        te.datasets.fetch("smd", data=tmp_path / "data")
    assert files(tmp_path / "data") == []


def test_a_download_that_is_too_large_is_stopped(small, tmp_path, monkeypatch):
    monkeypatch.setenv("TSADEVAL_MAX_BYTES", "1000")
    message = r"train/machine-2-1.txt is larger than 1000 bytes, and was not kept; .* raise the limit with TSADEVAL_MAX"
    with pytest.raises(TsadevalError, match=message):
        te.datasets.fetch("smd", data=tmp_path / "data")
    assert files(tmp_path / "data") == ["SMD/test_label/machine-2-1.txt"]


def test_a_missing_file(small, tmp_path):
    (small[0] / "train" / "machine-2-1.txt").unlink()
    with pytest.raises(TsadevalError, match=r"train/machine-2-1.txt could not be downloaded \(404 File not found\)"):
        te.datasets.fetch("smd", data=tmp_path / "data")
    assert files(tmp_path / "data") == ["SMD/test_label/machine-2-1.txt"]


def test_an_interrupted_download(small, tmp_path):
    small[2].broken = ("train/machine-2-1.txt",)
    with pytest.raises(TsadevalError, match=r"train/machine-2-1.txt could not be downloaded \(ChunkedEncodingError\)"):
        te.datasets.fetch("smd", data=tmp_path / "data")
    assert files(tmp_path / "data") == ["SMD/test_label/machine-2-1.txt"]
    small[2].broken = ()
    assert te.datasets.fetch("smd", data=tmp_path / "data").names == ("smd/2-1",)


def test_files_without_a_checksum_are_compared_with_what_is_known(small, tmp_path):
    write(small[0] / "train" / "machine-2-1.txt", lines(rows(299, 38)))
    message = r"what came is not Server Machine Dataset: smd/2-1: expected 300 training points, found 299 .*\(removed: "
    with pytest.raises(TsadevalError, match=message):
        te.datasets.fetch("smd", data=tmp_path / "data")
    assert files(tmp_path / "data") == ["SMD/test_label/machine-2-1.txt"]


def test_an_archive_that_holds_something_else(served, tmp_path):
    zipped(served[0] / "UCR_TimeSeriesAnomalyDatasets2021.zip", {"readme.txt": "nothing here"})
    with pytest.raises(TsadevalError, match=r"what came is not UCR anomaly archive: ucr: expected .*removed: UCR_Time"):
        te.datasets.fetch("ucr", data=tmp_path / "data", base=served[1])
    assert files(tmp_path / "data") == []
    zipped(served[0] / "UCR_TimeSeriesAnomalyDatasets2021.zip", {UCR_NAME: "1\n" * 20})
    assert te.datasets.fetch("ucr", data=tmp_path / "data", base=served[1]).names == ("ucr/007",)


def test_what_cannot_be_fetched(tmp_path, monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)
    with pytest.raises(InvalidInputError, match=r"swat has no public download.*Ask iTrust .*SWaT/SWaT_Dataset_Normal"):
        te.datasets.fetch("swat", data=tmp_path)
    with pytest.raises(InvalidInputError, match=r"creditcard has no public download.*Sign in at .*kaggle"):
        te.datasets.fetch("creditcard", data=tmp_path)
    with pytest.raises(InvalidInputError, match=r"asd has no public download.*pickles"):
        te.datasets.fetch("asd", data=tmp_path)
    with pytest.raises(UnknownNameError, match=r"there is no smd/9-9 to fetch"):
        te.datasets.fetch("smd/9-9", data=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown data set 'smdd': did you mean smd"):
        te.datasets.fetch("smdd", data=tmp_path)
    with pytest.raises(InvalidInputError, match="smd: no data folder was given"):
        te.datasets.fetch("smd")


def test_items_need_only_their_own_files():
    wanted = _wanted(DATASETS["smd"], "2-1")
    assert [download.path for download in wanted] == [f"{k}/machine-2-1.txt" for k in ("test_label", "train", "test")]
    assert all(download.sha256 for download in wanted)
    wanted = _wanted(DATASETS["nab"], "realKnownCause/nyc_taxi")
    assert {download.path for download in wanted} == {
        "data/realKnownCause/nyc_taxi.csv",
        "labels/combined_windows.json",
    }
    assert len(_wanted(DATASETS["nab"], "")) == 59


# The command line ----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)


def run(*arguments, **environment):
    return commands.run("datasets", *arguments, **environment)


@pytest.mark.slow
def test_list_and_info(tmp_path):
    smd(tmp_path)
    write(tmp_path / "UCR" / UCR_NAME, "\n".join(map(str, range(20))))
    write(tmp_path / "SWaT" / "swat_labels.txt", "0\n1\n")
    done = run("list", "--data", tmp_path, "--format", "json")
    present = {row["data set"]: row["present"] for row in json.loads(done.stdout)}
    assert list(present) == list(DATASETS)
    assert present["smd"] == "1 with features, 1 labels only"
    assert present["ucr"] == "1 with features"
    assert present["swat"] == "labels only"
    assert present["msl"] == "-"
    assert "no data folder was given: pass --data or set TSADEVAL_DATA" in run("list").stdout
    about = run("info", "ucr", TSADEVAL_DATA=str(tmp_path)).stdout
    assert "option end     one of 'inclusive', 'exclusive'" in about
    assert "present        ucr/007" in about
    one = {
        row["what"]: row["value"]
        for row in json.loads(run("info", "ucr/7", "--data", tmp_path, "--format", "json").stdout)
    }
    assert (one["training points"], one["test points"], one["events"], one["longest event"]) == (6, 14, 1, 3)
    np.savez(tmp_path / "mine.npz", x=np.zeros(4), label=[0, 1, 0, 0])
    assert "test points      4" in run("info", tmp_path / "mine.npz").stdout
    (tmp_path / "mine.csv").write_text("x,y,bad\n1,2,0\n3,4,1\n")
    about = run("info", f"{tmp_path / 'mine.csv'}(label=bad, columns=[y])").stdout
    assert about.splitlines()[5].split() == ["their", "names", "y"]


@pytest.mark.slow
def test_errors_are_one_line(tmp_path):
    for arguments, message in [
        (("info", "ucrr"), "tsadeval: unknown data set 'ucrr', and there is no such file or folder: did you mean ucr?"),
        (
            ("fetch", "swat", "--data", tmp_path),
            "tsadeval: swat has no public download that could be fetched. Ask",
        ),
    ]:
        done = run(*arguments)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert line.startswith(message)


def test_fetch_from_the_command_line(served, tmp_path):
    folder, base, _ = served
    zipped(folder / "UCR_TimeSeriesAnomalyDatasets2021.zip", {UCR_NAME: "1\n" * 20})
    done = run("fetch", "ucr", "--data", tmp_path / "data", "--base", base)
    assert done.returncode == 0, done.stderr
    assert "1 files are in" in done.stdout
    assert "0 verified by their sha256, 1 by the counts that are known of the data" in done.stdout
    assert "load them as ucr/007" in done.stdout
