# `make demo` and `make test` do all their own set-up, in .venv, with nothing but Python, make and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src -name '*.pyx')
# Plain torch would bring several GB of GPU libraries; the tests need this one build of it.
TORCH ?= torch==2.13.0
# The peers pin old versions of what we use, so they live apart.
PEERS := .venv-peers
# Installed without what they ask for: TensorFlow, torch and exact old versions, which their metrics do not use.
PEERS_ALONE := aeon==1.6.0 cce==0.3.3 PATE==0.1.1 vus==0.0.6

.PHONY: demo test lint bench peers docs clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py
	$(BIN)/tsadeval rankeval run --suite quick --metrics paper --store runs/quick

test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python benchmarks/cce.py
	$(BIN)/python benchmarks/metrics.py

peers: $(PEERS)/.ready
	$(PEERS)/bin/python benchmarks/peers.py

docs: $(VENV)/.test
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_detectors.py

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Both marks are remade when the metadata or a kernel changes: an editable install builds the kernels in place.
$(VENV)/.demo: $(VENV)/bin/pip pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

$(VENV)/.test: $(VENV)/bin/pip pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[all,torch,dask,interop,test,parity]'
	@touch $@ $(VENV)/.demo

$(PEERS)/.ready: benchmarks/peers-requirements.txt pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet --requirement benchmarks/peers-requirements.txt
	$(PEERS)/bin/python -m pip install --quiet --no-deps $(PEERS_ALONE)
	$(PEERS)/bin/python -m pip install --quiet --editable .
	@touch $@

clean:
	rm -rf $(VENV) $(PEERS) build dist src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
