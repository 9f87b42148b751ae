# Wraps the two commands, python3 manage.py up and python3 manage.py test, and adds what developers run.
# make check is what CI runs.

PYTHON ?= python3
BIN := .venv/bin/python -m
SOURCES := manage.py checks panel tests

.DEFAULT_GOAL := help
.PHONY: help up test check tools fmt fmt-check lint types arch migrations lock

help: ## Show these lines
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

up: ## Start Preflight on this machine
	$(PYTHON) manage.py up

test: ## Run the tests; T="tests/checks -k dns" picks some
	$(PYTHON) manage.py test $(T)

check: fmt-check lint types arch migrations test ## Everything CI runs

tools: ## Install what the checks below need into .venv
	@$(PYTHON) manage.py tools

fmt: tools ## Format the code, and mend what ruff can mend by itself
	$(BIN) ruff check --fix-only --quiet $(SOURCES)
	$(BIN) ruff format $(SOURCES)

fmt-check: tools
	$(BIN) ruff format --check --quiet $(SOURCES)

lint: tools ## Look for mistakes and for habits of other houses
	$(BIN) ruff check --quiet $(SOURCES)

types: tools ## Check the types
	$(BIN) mypy

arch: tools ## Check who imports whom
	.venv/bin/lint-imports

migrations: tools
	$(BIN) django makemigrations --check --dry-run --settings panel.settings

lock: ## Write both locks anew from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group test --output-file requirements.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group ci --group test --constraints requirements.lock --output-file .ci/requirements.lock pyproject.toml
