# Everything runs in .venv, which the targets make and fill with the versions pinned in constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
# The index of PyTorch's CPU builds may be given here: make demo PIP_FLAGS="--extra-index-url ..."
PIP_FLAGS ?=
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo demo-check test check format bench clean

help:  ## Show these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo  ## Corpus, two trained models, a study, and the pages on 127.0.0.1 (ARMS=all: four models; PORT=8000)
	@$(BIN)/python -m demo --arms $(or $(ARMS),two) --port $(or $(PORT),8000)

demo-check: .venv/demo  ## The same without serving: simulated raters finish the study over HTTP, then the report
	@$(BIN)/python -m demo --arms $(or $(ARMS),two) --check

test: .venv/test packages  ## Every test, on SQLite and on PostgreSQL, in a real Chromium (T="path -k name" for some)
	@$(BIN)/python -m pytest -n $(or $(WORKERS),2) $(T)

check: .venv/test  ## Style, types, directions of imports, migrations, templates
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.check

format: .venv/test  ## Lay the code out as `make check` wants it
	@$(BIN)/ruff check --fix-only . && $(BIN)/ruff format .

bench: .venv/bench  ## Measure, as ratios in one interleaved run, one JSON object a line (ONLY=name for one)
	@$(BIN)/python -m benchmarks $(ONLY)

clean:  ## Remove what can be made again: the environment and caches; never var/, where studies lie
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Glance needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}. Try: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing the pinned dependencies into .venv (once, silently, some minutes; README says how to get PyTorch without CUDA)" >&2
	@$(INSTALL) -e '.[runner,report]' >&2
	@touch $@

.venv/test: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing the pinned dependencies, and what the tests need, into .venv (once)" >&2
	@$(INSTALL) -e '.[runner,report,oidc,hf,eval,test,check]' >&2
	@touch $@ .venv/demo

.venv/bench: .venv/test pyproject.toml constraints.txt
	@echo "Installing what the benchmarks measure against into .venv (once)" >&2
	@$(INSTALL) -e '.[runner,report,oidc,hf,eval,test,check,peers]' >&2
	@touch $@

.PHONY: packages
packages:
	@sh tests/install-packages
