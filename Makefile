# Every command of the project. On a machine with Python 3.11+ and make alone, each builds what it needs and runs.

PYTHON ?= python3
UV ?= uv
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
PYTEST_ARGS ?=
DEMO_ARGS ?=
BENCH_ARGS ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: install
install: $(STAMP) ## build the virtual environment .venv from the lock (done once, and again when the lock changes)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Celeriac needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

.PHONY: demo
demo: install ## run the flagship end to end, embedded, and print its summary
	$(BIN)/celeriac demo $(DEMO_ARGS)

.PHONY: test
test: install ## run every test; the last lines say what was left out (CI=true: nothing may be)
	$(BIN)/pytest -n 2 --dist loadfile $(PYTEST_ARGS)

.PHONY: soak
soak: install ## run the tests that take minutes under load
	$(BIN)/pytest -m soak --timeout 3600 $(PYTEST_ARGS)

.PHONY: lint
lint: install ## check rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: format
format: install ## mend what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: types
types: install ## check types, strictly, tests included
	$(BIN)/mypy

.PHONY: bench
bench: install ## run the benchmarks
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

.PHONY: docs
docs: install ## write the generated documents again
	$(BIN)/python -m orchestrator.reference docs

.PHONY: lock
lock: ## resolve the dependencies anew into requirements.lock (needs uv)
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock" \
		--extra flower --group dev --output-file requirements.lock pyproject.toml

.PHONY: clean
clean: ## remove what was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
