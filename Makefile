# `make` lists what can be done here. The work is in scripts/, where it can be read.
SHELL := bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
bin := .venv/bin
manage := $(bin)/python manage.py
# Tests have a database file and a broker of their own: those of a running site stay as they are.
test_data = CAIRN_DATA_DIR="$${CAIRN_DATA_DIR:-$(CURDIR)/var/test}"

.PHONY: help setup run demo reset test test-services services services-stop fake-llm shell \
	check lint types contracts migrations-check openapi contract lock bench faults ci

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv what the requirements files say (the other commands do this first)
	@scripts/setup

run: setup ## run the site and a worker with the demo project; PORT=8000, DEMO=0 leaves the project out, Ctrl-C stops
	@$(bin)/python scripts/run.py

demo: setup ## make the demo project on the running site, and print its logins and key; PORT=8000
	@$(manage) seed_demo --url http://127.0.0.1:$(or $(PORT),8000)

reset: setup ## remove the data of `make run`, after naming it and asking; YES=1 does not ask
	@$(bin)/python scripts/reset.py

test: setup ## run the tests on SQLite; ARGS="tests/memories -k guard" goes to pytest
	@$(test_data) $(bin)/python -m pytest $(ARGS)

test-services: setup ## run all tests on the MariaDB and Redis of `make services`; ARGS= goes to pytest
	@eval "$$(scripts/services env)" && $(test_data) $(bin)/python -m pytest $(ARGS)

services: ## start a private MariaDB and Redis for tests, and print where they listen
	@scripts/services start && scripts/services env

services-stop: ## stop them and remove their data
	@scripts/services stop

fake-llm: setup ## serve a stand-in for a model, so that EXTRACTION_BACKEND=llm works by hand; FAKE_LLM_PORT=8099
	@$(bin)/python scripts/fake_llm.py

shell: setup ## open a Python shell with the models imported
	@$(manage) shell

check: lint types contracts migrations-check openapi ## all checks that run no test

lint: setup ## ruff: rules and format
	@$(bin)/ruff check && $(bin)/ruff format --check --quiet

types: setup ## mypy
	@$(bin)/mypy

contracts: setup ## import-linter: imports point one way
	@$(bin)/lint-imports

migrations-check: setup ## no model has changed without a migration, and Django's own checks pass
	@$(manage) makemigrations --check --dry-run && $(manage) check --fail-level WARNING

openapi: setup ## the API's description is complete and valid OpenAPI 3.1 (left in var/openapi.yaml)
	@$(manage) spectacular --validate --fail-on-warn --file var/openapi.yaml \
		&& $(bin)/python -m openapi_spec_validator var/openapi.yaml

contract: setup ## the running API does what its description says, for its owner and for a key; ARGS=--short as CI does it
	@$(bin)/python scripts/contract $(ARGS)

lock: ## pin and hash the requirements anew; ARGS=--upgrade takes newer releases
	@scripts/lock $(ARGS)

bench: setup ## what recall, writes, weighing and turns cost, and a load of eight clients; ARGS=--short as CI does it, ARGS=turns one part
	@$(bin)/python -m bench $(ARGS)

faults: setup ## 50 topics at once while workers, web, Redis and MariaDB die; ARGS=--short as CI does it, ARGS=calm plays one
	@$(bin)/python -m bench.faults $(ARGS)

ci: ## everything, on SQLite and on MariaDB with Redis, as CI does it
	@.ci/run
