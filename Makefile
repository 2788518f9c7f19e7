# `make demo` and `make test` do all their own set-up, in .venv, with nothing but Python, make and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src -name '*.pyx')
# Plain torch would bring several GB of GPU libraries; the tests need this one build of it.
TORCH ?= torch==2.13.0

.PHONY: demo test lint bench docs clean

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

docs: $(VENV)/.test
	$(BIN)/python docs/make_reference.py

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Both marks are remade when the metadata or a kernel changes: an editable install builds the kernels in place.
$(VENV)/.demo: $(VENV)/bin/pip pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

$(VENV)/.test: $(VENV)/bin/pip pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[all,torch,dask,test,parity]'
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) build dist src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
