# Each target creates what it needs. `make figure3`, `make all SCALE=smoke`, `make test`.

# Variables for other Pythons are not for that of .venv (src/localentropy/environment.py names the other variables).
unexport $(filter-out PYTHON,$(filter PYTHON%,$(.VARIABLES)))

# A Python from 3.11 to 3.13 to make .venv with. Without one, .venv keeps its own, and a new .venv takes the first found.
PYTHON ?=

# What may be set behind a target. The last three are Snakemake's: `scale` and `run` of its --config, and its other words.
VARIABLES := PYTHON SCALE RUN SET
WITHOUT_VALUES := notebooks site test test-pipeline test-slow test-slurm test-container lint docs gallery golden dist clean
IN_ENVIRONMENT := $(strip $(foreach name,SCALE RUN SET,$(if $(filter environment,$(origin $(name))),$(name))))
SCALE = default

VENV := .venv
BIN := $(VENV)/bin
SNAKEMAKE := $(BIN)/snakemake

quoted = '$(subst ','\'',$(1))'

# A variable that would be ignored is refused, so that nobody waits for figures of other values than those asked for.
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
UNKNOWN := $(firstword $(filter-out $(VARIABLES),$(GIVEN)))
ifneq ($(UNKNOWN),)
NEAREST := $(shell PYTHONPATH=src $(or $(PYTHON),python3) -c 'import sys; from localentropy.arguments import nearest_choice; \
	print(nearest_choice(sys.argv[1], sys.argv[2:]) or "")' $(call quoted,$(UNKNOWN)) $(VARIABLES) 2>/dev/null)
$(error $(UNKNOWN)=$(value $(UNKNOWN)): no such variable; $(if $(NEAREST),did you mean $(NEAREST)=$(value $(UNKNOWN))? )allowed: \
	$(VARIABLES); SET holds parameters, such as SET='franz_parisi.inv_alpha=1.5')
endif
UNUSED := $(and $(filter $(WITHOUT_VALUES),$(MAKECMDGOALS)),$(firstword $(filter SCALE RUN SET,$(GIVEN))))
ifneq ($(UNUSED),)
$(error $(UNUSED)=$(value $(UNUSED)): $(firstword $(filter $(WITHOUT_VALUES),$(MAKECMDGOALS))) has one size and the shipped \
	values; ask for it without $(UNUSED))
endif

.DEFAULT_GOAL := help
OWN := help setup all scorecard report dag article archive $(WITHOUT_VALUES)
# A file or folder of such a name, which make would take for what was asked for: `make tests` would be up to date.
FILES := $(filter-out $(OWN),$(wildcard $(MAKECMDGOALS)))
.PHONY: $(OWN) $(FILES)
.NOTPARALLEL:

help:
	@echo "make figure3 | figure6     one figure, into figures/$(SCALE)/  (SCALE=smoke|default|paper)"
	@echo "make figure3 SET='franz_parisi.inv_alpha=1.5' RUN=wide"
	@echo "                           with another value, into figures/$(SCALE)-wide/ (docs/configuration.md has the keys)"
	@echo "make all                   every figure of every paper"
	@echo "make scorecard | report    every claim of every paper with its verdict | Snakemake's HTML report of everything"
	@echo "make article               the replication report, HTML and PDF, of the committed figures; of a run: make article SCALE=smoke"
	@echo "make archive               tables, figures, scorecards, report, checksums: a folder for a data repository, archive/$(SCALE)"
	@echo "make dag                   a picture of what is made from what"
	@echo "make notebooks             run the notebooks, render them as HTML"
	@echo "make site                  figures with charts, verdicts, theory, reference as pages, into site/ (it needs no network)"
	@echo "make test | test-slow      the tests | the long ones"
	@echo "make test-pipeline         those that run the pipeline, the set-up and the site in a browser"
	@echo "make test-slurm            the pipeline on a Slurm of one node, which it installs (Debian, root)"
	@echo "make test-container        build the image of the Dockerfile and run it (Debian, root, with buildah and debootstrap)"
	@echo "make lint | docs           style checks | rewrite generated documentation"
	@echo "make gallery               draw every figure at default scale, copy them to figures/gallery/"
	@echo "make golden                renew the smoke figures' numbers in tests/golden/ (look at their git diff)"
	@echo "make dist                  the library as a source distribution and a wheel, into dist/"
	@echo "make clean                 remove results, figures, logs, prepared data, rendered notebooks, site (not the gallery, not .venv)"

setup:
	@$(if $(PYTHON),,$(BIN)/python -I -S make_environment.py --check 2>/dev/null && exit;) \
	for python in $(if $(PYTHON),"$(PYTHON:~/%=$(HOME)/%)",$(BIN)/python python3.11 python3.12 python3.13 python3 python); do \
		version=$$("$$python" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null </dev/null); \
		case $$version in 3.11|3.12|3.13) exec "$$python" -I make_environment.py;; esac; \
	done; \
	echo "error: $(if $(PYTHON),PYTHON=$(PYTHON) is not a Python from 3.11 to 3.13$${version:+ (it says $$version)},there \
	is no Python from 3.11 to 3.13); say where one is: make setup PYTHON=PATH" >&2; exit 1

# SCALE, RUN and SET are taken from the command line only: out of the environment they would change figures unseen.
WITH_VALUES = $(if $(IN_ENVIRONMENT),$(error $(firstword $(IN_ENVIRONMENT)) is set in the environment, which is not \
	taken; write it behind the target, or unset it))$(SNAKEMAKE) $@ --config $(call quoted,scale=$(value SCALE)) \
	$(if $(value RUN),$(call quoted,run=$(value RUN))) $(if $(value SET),$(call quoted,set=$(value SET)))

all scorecard report archive dag $(FILES): setup
	$(WITH_VALUES)

notebooks site: setup
	$(SNAKEMAKE) $@

# Without a variable: of the figures and scorecards that come with the code.
article: setup
	$(if $(filter SCALE RUN SET,$(GIVEN)),$(WITH_VALUES),$(BIN)/python -m localentropy article figures --gallery)

# Any other word is a target of Snakemake's, such as a figure of any paper: figure3, margins_figure2, ... Snakemake refuses
# one that is none. Where there is no .venv, a word that ends no name of a figure is refused before it is made.
NAMES = datasets $(foreach file,$(wildcard config/*/figures.yaml),$(patsubst %,$(notdir $(patsubst %/,%,$(dir $(file))))_%,\
	scorecard $(shell sed -n 's/^\([a-z][a-z0-9_]*\):.*/\1/p' $(file))))
NO_TARGET = $(if $(findstring /,$@)$(findstring .,$@)$(wildcard $(BIN)/python)$(filter $@ %_$@,$(NAMES)),,$@)
.DEFAULT:
	@$(if $(NO_TARGET),$(error $@: no such target; docs/figures.md lists the figures, and `make` all others))
	@$(MAKE) --no-print-directory setup
	$(WITH_VALUES)

test: MARKED = not pipeline
test-pipeline: MARKED = pipeline
test test-pipeline: setup
	$(BIN)/python -m pytest -m "$(MARKED) and not slow and not slurm and not container" -n 2 --dist loadfile \
		--no-loadscope-reorder --max-worker-restart 0

test-slow test-slurm test-container: setup
	$(BIN)/python -m pytest -m $(@:test-%=%) -o faulthandler_timeout=0

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
	rm -rf results logs archive data/prepared notebooks/*.html* notebooks/*.ipynb* site docs/api .snakemake
	find figures -mindepth 1 -maxdepth 1 ! -name gallery -exec rm -rf {} +
