# `make demo` and `make test` do all set-up themselves: they need python3 (3.11 or newer, with venv) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_VENV := .docs-venv

.PHONY: help demo test lint types layers check docs bench lock pi clients server integrations clean

help: ## what the targets do
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): requirements-dev.txt $(wildcard packages/*/pyproject.toml)
	$(PYTHON) -m venv $(VENV) || { echo "python3 needs its venv module: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(patsubst %/pyproject.toml,--editable %,$(wildcard packages/*/pyproject.toml))
	touch $@

demo: $(READY) ## fold the sample session: status, dry run, fold, history, recall, undo
	PATH="$(CURDIR)/$(BIN):$$PATH" sh samples/demo.sh

test: $(READY) ## run the tests
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(READY) ## style
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .

types: $(READY) ## static types
	$(BIN)/mypy

layers: $(READY) ## imports go down only
	$(BIN)/lint-imports

check: test lint types layers docs ## all that CI runs

$(DOCS_VENV)/.ready: requirements-docs.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	touch $@

docs: $(DOCS_VENV)/.ready ## build the documentation into site/ and check its links
	rm -rf site
	$(DOCS_VENV)/bin/zensical build --clean --strict
	$(DOCS_VENV)/bin/python scripts/check_links.py site

bench: $(READY) ## measure foldline beside its alternatives
	$(BIN)/python benchmarks/run.py

pi: $(READY) ## compare with pi's own session managers (installs their npm packages into .pi)
	sh tests/pi/install.sh .pi
	PI_PACKAGES=$(CURDIR)/.pi $(BIN)/python -m pytest -rs tests/pi

clients: $(READY) ## fold in the real agents, by hand and installed, and resume them (installs their npm packages into .clients)
	sh tests/clients/install.sh .clients
	CLIENT_PACKAGES=$(CURDIR)/.clients $(BIN)/python -m pytest -rs tests/clients

server: $(READY) ## summaries by a small model on a real model server (installs both into .server)
	PYTHON=$(BIN)/python sh tests/server/install.sh .server
	SERVER_PACKAGES=$(CURDIR)/.server $(BIN)/python -m pytest tests/server

integrations: ## each agent framework's newest release with foldline in it (makes an environment for each in .integrations)
	PYTHON=$(PYTHON) sh tests/integrations/run.sh .integrations $(FRAMEWORKS)

lock: $(READY) ## pin the dependencies by hash
	$(BIN)/uv pip compile --no-strip-extras packages/*/pyproject.toml --all-extras --group pyproject.toml:dev --no-emit-package foldline --no-emit-package foldline-agent --no-emit-package foldline-lab --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file requirements-dev.txt
	$(BIN)/uv pip compile --no-strip-extras --group pyproject.toml:docs --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file requirements-docs.txt

clean: ## remove the environments and the built documentation
	rm -rf $(VENV) $(DOCS_VENV) site .cache .pi .clients .server .integrations
