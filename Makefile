# Each target creates what it needs. `make figure3`, `make all SCALE=smoke`, `make test`.

# The first Python from 3.11 to 3.13 that runs.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
	$$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$name && break; done)
SCALE ?= default
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-from-lock
# Programs in .venv name the place where it was made: empty, or that place if this checkout was moved or copied since.
MADE_AT := $(shell made=$$(sed -n 's/^command = .* -m venv \(--clear \)\{0,1\}//p' $(VENV)/pyvenv.cfg 2>/dev/null); \
	[ -z "$$made" ] || [ "$$(realpath -m "$$made")" = "$$(realpath $(VENV))" ] || echo "$$made")
SNAKEMAKE := $(BIN)/snakemake

.DEFAULT_GOAL := help
.PHONY: help setup all scorecard report dag notebooks site test test-slow test-slurm test-container lint docs gallery golden dist clean
.NOTPARALLEL:

help:
	@echo "make figure3 | figure6     one figure, into figures/$(SCALE)/  (SCALE=smoke|default|paper)"
	@echo "make all                   every figure of every paper"
	@echo "make scorecard | report    every claim of every paper with its verdict | Snakemake's HTML report of everything"
	@echo "make dag                   a picture of what is made from what"
	@echo "make notebooks             run the notebooks, render them as HTML"
	@echo "make site                  figures with charts, verdicts, theory, reference as pages, into site/ (it needs no network)"
	@echo "make test | test-slow      the tests | the long ones"
	@echo "make test-slurm            the pipeline on a Slurm of one node, which it installs (Debian, root)"
	@echo "make test-container        build the image of the Dockerfile and run it (Debian, root, with buildah and debootstrap)"
	@echo "make lint | docs           style checks | rewrite generated documentation"
	@echo "make gallery               draw every figure at default scale, copy them to figures/gallery/"
	@echo "make golden                renew the smoke figures' numbers in tests/golden/ (look at their git diff)"
	@echo "make dist                  the library as a source distribution and a wheel, into dist/"
	@echo "make clean                 remove results, figures, logs, prepared data, rendered notebooks, site (not the gallery, not .venv)"

setup: $(STAMP)

ifneq ($(MADE_AT),)
.PHONY: $(STAMP)
endif

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python from 3.11 to 3.13 found; say where one is: make setup PYTHON=PATH" >&2; exit 1; }
	$(if $(MADE_AT),@echo "this checkout was moved or copied: its $(VENV) was made at $(MADE_AT) and is made anew")
	$(PYTHON) -m venv $(if $(MADE_AT),--clear )$(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

all scorecard report dag: setup
	$(SNAKEMAKE) $@ --config scale=$(SCALE)

notebooks site: setup
	@test "$(origin SCALE)" = file || { echo "error: SCALE=$(SCALE): $@ has one size; ask for it without SCALE" >&2; exit 1; }
	$(SNAKEMAKE) $@

# Any other word is a target of Snakemake's, such as a figure of any paper: figure3, margins_figure2, ...
.DEFAULT:
	@$(MAKE) --no-print-directory setup
	$(SNAKEMAKE) $@ --config scale=$(SCALE)

test: setup
	$(BIN)/python -m pytest -m "not slow and not slurm and not container" -n 2 --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -m slow

test-slurm: setup
	$(BIN)/python -m pytest -m slurm

test-container: setup
	$(BIN)/python -m pytest -m container

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/snakemake --lint

docs: setup
	$(BIN)/python -m localentropy docs

gallery: setup
	$(BIN)/snakemake all scorecard --config scale=default
	$(BIN)/python -m localentropy gallery

golden: setup
	$(BIN)/snakemake all scorecard --config scale=smoke
	$(BIN)/python -m localentropy golden

dist: setup
	$(BIN)/python -m build --no-isolation

clean:
	rm -rf results logs data/prepared notebooks/*.html* notebooks/*.ipynb* site docs/api .snakemake
	find figures -mindepth 1 -maxdepth 1 ! -name gallery -exec rm -rf {} +
