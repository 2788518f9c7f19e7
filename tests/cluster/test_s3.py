"""Files in an object store: a server of moto that speaks S3, on this machine."""

import pytest

import tsadeval as te
from clusters import values, write_files


@pytest.fixture
def bucket(monkeypatch):
    server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", port=0)
    pytest.importorskip("s3fs")
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if system.exists("bench"):  # moto keeps its buckets as long as the process lives
        system.rm("bench", recursive=True)
    system.mkdir("bench")
    yield system
    server.stop()


@pytest.mark.filterwarnings("ignore")  # those of the server's own packages
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_object_store_gives_the_same_rows(bucket, tmp_path, n_jobs):
    write_files(tmp_path)
    bucket.put(str(tmp_path), "bench/data", recursive=True)
    rows, stream, compared = values("s3://bench/data/*/*.parquet", "s3://bench/data/large.parquet", n_jobs=n_jobs)
    here_rows, here, here_compared = values(f"{tmp_path}/*/*.parquet", tmp_path / "large.parquet")
    assert rows.equals(here_rows)
    assert stream == pytest.approx(here, rel=1e-12)
    assert all(a.equals(b) for a, b in zip(compared, here_compared, strict=True))
    with pytest.raises(te.errors.InvalidInputError, match="cannot be read"):
        te.tables.read_table("s3://bench/data/none.parquet")
