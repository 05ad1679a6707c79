# `make demo` shows gainful at work, `make test` checks everything; both set themselves up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data

.PHONY: test demo lint types layers pytest bench clean

# The environment is complete once the stamp is newer than what it was made from.
$(VENV)/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group test
	touch $@

test: lint types layers pytest

lint: $(VENV)/stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/stamp
	$(BIN)/mypy

layers: $(VENV)/stamp
	$(BIN)/lint-imports

# Real collections are used where they are at hand: see tests/contract/test_conformance.py.
pytest: $(VENV)/stamp
	$(if $(wildcard $(DATA)/README.md),GAINFUL_DATA=$(abspath $(DATA))) $(BIN)/coverage run -m pytest
	$(BIN)/coverage report

demo: $(VENV)/stamp
	$(BIN)/gainful demo

bench:
	$(PYTHON) benchmarks/run.py

clean:
	rm -rf $(VENV) .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage demo
