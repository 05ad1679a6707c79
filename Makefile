# `make demo` shows gainful at work, `make test` checks what a change needs, `make test-all` everything; all set themselves
# up in .venv.
PYTHON ?= python3
VENV := .venv
BIN = $(VENV)/bin
DATA ?= ../shared/data
# Processes that share the tests.
JOBS ?= auto

.PHONY: test test-all pure demo docs lint types layers pytest slow coverage conformance fuzz soak mutants bench release clean

CONSTRAINTS := constraints.txt
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS)

# An environment with gainful and its charts; each stamp is newer than what it was made from.
$(VENV)/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --upgrade pip
	$(PIP) --editable '.[plots]'
	touch $@

# The compiled core, anew whenever its source changes; where there is no compiler, gainful does without.
$(VENV)/core: $(VENV)/base src/gainful/_core/native.c hatch_build.py
	$(PIP) --no-deps --editable .
	touch $@

# What the tests need besides: oracles and tools.
$(VENV)/stamp: $(VENV)/base $(VENV)/core
	$(PIP) --group test
	touch $@

# What training needs: torch, which is large.
$(VENV)/train: $(VENV)/stamp
	$(PIP) --group train
	touch $@

# The site needs no more than gainful and what builds it.
$(VENV)/docs: $(VENV)/base
	$(PIP) --group docs
	touch $@

test: lint types layers docs pytest

# The slow tests besides: interrupts, real clusters, long statistics, pages as processes, training. Coverage is that of both.
test-all: COVER := --cov --cov-append --cov-report= --cov-fail-under=0
test-all: test pure slow coverage

lint: $(VENV)/stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/stamp
	$(BIN)/mypy

layers: $(VENV)/stamp
	$(BIN)/lint-imports

# Real collections are used where they are at hand: see tests/contract/test_conformance.py.
PYTEST = $(if $(wildcard $(DATA)/README.md),GAINFUL_DATA=$(abspath $(DATA))) $(BIN)/python -m pytest \
	--numprocesses $(JOBS) --maxprocesses 8 --dist worksteal $(COVER)

pytest: $(VENV)/stamp
	$(if $(COVER),rm -f .coverage)
	$(PYTEST) -m 'not slow'

# What the compiled core does, by its pure twin.
pure: $(VENV)/stamp
	GAINFUL_PURE=1 $(PYTEST) -m 'not slow' tests/unit/data tests/unit/io tests/unit/compat tests/contract/test_trec_eval.py \
		tests/contract/test_extremes.py tests/contract/test_conformance.py

slow: $(VENV)/train
	$(PYTEST) -m slow

coverage:
	$(BIN)/coverage report

# Other projects' own tests, on gainful and on the originals, in an environment of their own; FOLDER may have checkouts.
conformance: VENV := .venv-conformance
conformance: CONSTRAINTS := .venv-conformance/constraints.txt
conformance: .venv-conformance/stamp
	$(BIN)/python .ci/conformance.py $(if $(FOLDER),--folder $(FOLDER))

.venv-conformance/stamp: .ci/conformance.txt pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	grep -v '^pandas==' constraints.txt > $(CONSTRAINTS)
	$(PIP) --upgrade pip
	$(PIP) --requirement .ci/conformance.txt --editable .
	touch $@

# Builds the site into site/, and checks that every link leads somewhere and that nothing is fetched from a network.
docs: $(VENV)/docs
	PYTHONPATH=docs $(BIN)/python -m sitegen

# Every property with new draws, ten thousand damaged files among them, then every reader and the grammar for so many seconds,
# guided by coverage; then the compiled core, under sanitizers.
SECONDS ?= 60
TARGETS ?=
fuzz: $(VENV)/stamp
	GAINFUL_FUZZ=1 $(PYTEST) -m hypothesis
	GAINFUL_FUZZ=1 $(PYTEST) tests/fuzz tests/contract/test_interrupts.py
	$(PIP) atheris
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(TARGETS)
	$(BIN)/python tests/fuzz/core.py --seconds $(SECONDS)

# Random commands with random faults, for so many seconds: docs/promises.md has the tally of the last long one.
soak: $(VENV)/stamp
	$(BIN)/python tests/fuzz/soak.py --seconds $(SECONDS)

# Small errors, put into some modules: how many do their tests find? docs/promises.md has the last answer.
MODULES ?= align dcg incomplete anova paired robustness sweep text
mutants: $(VENV)/stamp
	$(PIP) mutmut
	$(BIN)/python tests/mutants.py $(MODULES) $(if $(SAMPLE),--sample $(SAMPLE))

demo: $(VENV)/base $(VENV)/core
	$(BIN)/gainful demo

# Builds the archives into dist/, checks what is in them, and tries the wheel in a new environment; uploads nothing.
release: $(VENV)/stamp
	$(PIP) build abi3audit
	$(BIN)/python .ci/release.py

bench:
	$(PYTHON) benchmarks/run.py

clean:
	rm -rf $(VENV) .venv-bench .venv-conformance .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage demo build dist site src/gainful/_core/*.so
