# PyTorch, measured. `make help` lists the targets; each sets up .venv by itself.
#
#   PYTHON=python3.12   the Python that .venv is made from (3.11 or newer)
#   LESSONS=all STUDENTS=12  what `make demo` grades: lessons, and how many learners
#   REQUIRE_ALL=1       a test that would be skipped fails, as in CI
#   PICTURES=1          tests in a browser leave screenshots in tests/output/browser/, to be looked at
#   TESTS=tests/course  the tests that `make pytest` runs (all by default)
#   SITE_ADDRESS=https://…  where the site will lie (`make site`), for links in search engines
#
# On Linux, pip takes PyTorch's CUDA build, several GB. PIP_EXTRA_INDEX_URL with the address of
# PyTorch's CPU builds (see its "Get started" page) takes the small one.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
READY  := $(VENV)/.ready
DIVES  := $(VENV)/.lessons
SITE   := $(VENV)/.site

# nbgrader starts `alembic` by its bare name, and notebooks start `python`: both must be ours.
# The shell says where we are: a path with a quote in it would break the commands.
RUN        := PATH="$$PWD/$(VENV)/bin:$$PATH"
AUTOGRADER := $(RUN) $(PY) -m autograder
INSTALL    := $(PY) -m tools.install -c constraints.txt
PYTEST     := $(RUN) PYTHONHASHSEED=0 $(PY) -m pytest

START_PAGE := 00-start-here.ipynb
# JupyterLab asks nobody about news, and fetches none.
LAB_SETTINGS := $(VENV)/share/jupyter/lab/settings
NO_NEWS := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
LAB_ARGS ?=
# What `make demo` grades: layout, training, a simulated GPU. LESSONS=all takes every lesson.
LESSONS  ?= 04 11 14
STUDENTS ?= 8
COURSE   ?= .
TESTS    ?=

# Images of containers often set it. Every process that is started would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help demo lab formgrader site release answers mutants test test-all lint types drift pytest test-gpu system bench \
    wheel versions clean force

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

# --- set-up ------------------------------------------------------------------------------------

# The stamp holds the folder it was made in: a copy of the tree must not run the original's code.
ifneq ($(shell [ "$$(cat $(READY) 2>/dev/null)" = "$$(pwd -P)" ] && echo here),here)
$(READY): force
endif

# torch comes first and pinned; after that nothing that asks for torch can bring another one.
# setuptools comes with it, so that building the package itself needs no network. The sizes are those
# of the files that pip takes on Linux (2026-11-27).
$(READY): pyproject.toml constraints.txt
	@test -x $(PY) || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "make: $(PYTHON) is not Python 3.11 or newer. Name one: make PYTHON=python3.12 …"; exit 1; } >&2
	@echo "Setting up $(VENV) in two steps; the first time takes some minutes."
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "make: $(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; } >&2
	@echo "1 of 2: PyTorch and what it needs, about 200 MB; its CUDA build is several GB (see the head of the Makefile)"
	@$(INSTALL) torch setuptools
	@echo "2 of 2: JupyterLab, nbgrader and what grading and tests use: about 150 packages, 320 MB"
	@$(INSTALL) --no-build-isolation -e '.[teach,cluster,dev]'
	@mkdir -p $(LAB_SETTINGS) && printf '%s\n' '$(NO_NEWS)' > $(LAB_SETTINGS)/overrides.json
	@printf '%s' "$$(pwd -P)" > $(READY)

# What some deep dives of the lessons use (TensorBoard, Ray, wandb, …): large, and not needed for grading.
$(DIVES): $(READY)
	@echo "Installing what some deep dives use: TensorBoard, Ray, wandb, Optuna, …"
	@$(INSTALL) --no-build-isolation -e '.[lessons]'
	@touch $(DIVES)

# Sphinx and what it brings.
$(SITE): $(READY)
	@echo "Installing what builds the site: Sphinx, myst-nb, furo"
	@$(INSTALL) --no-build-isolation -e '.[site]'
	@touch $(SITE)

# --- use ---------------------------------------------------------------------------------------

demo: $(READY)  ## a simulated class: graded, with feedback and report, in demo/; LESSONS=all: of every lesson
	@echo "1 of 4: a class of $(STUDENTS) invented learners hands in lessons: $(LESSONS)"
	@$(AUTOGRADER) simulate --students $(STUDENTS) --lessons $(LESSONS) --seed 1 --out demo
	@echo "2 of 4: every submission is graded"
	@$(AUTOGRADER) grade --course demo
	@echo "3 of 4: a page of feedback for each learner"
	@$(AUTOGRADER) feedback --course demo
	@echo "4 of 4: the report about the class"
	@$(AUTOGRADER) report --course demo
	@set -- demo/feedback/*/*/*.html; printf '%s\n' "" "Open in a browser, or a program of your choice:" \
	    "  the report     $$PWD/demo/report/index.html" \
	    "  some feedback  $$PWD/$$1" \
	    "  the gradebook  $$PWD/demo/gradebook.db (SQLite; make formgrader COURSE=demo shows it)"

# lab/.as-released remembers each file as it was copied. A file that still equals its memory is
# brought up to date; one that you changed is kept, and a newer edition of it is announced. The start
# page holds nothing of yours: it is always new, and shows how far you are before you run anything. It
# is signed, or JupyterLab would leave out parts of what it shows.
lab: $(READY)  ## JupyterLab on lab/, your working copy of release/
	@cd release && find . -type f ! -path '*/.*/*' ! -path ./$(START_PAGE) | while IFS= read -r file; do \
	    mine="../lab/$$file"; copied="../lab/.as-released/$$file"; \
	    mkdir -p "$${mine%/*}" "$${copied%/*}"; \
	    if [ ! -e "$$mine" ] || cmp -s "$$mine" "$$copied"; then \
	        cp "$$file" "$$mine"; cp "$$file" "$$copied"; \
	    elif ! cmp -s "$$file" "$$copied"; then \
	        echo "lab/$${file#./}: kept as you changed it; the new edition is release/$${file#./}"; \
	    fi; done
	@cp release/$(START_PAGE) lab/ && $(PY) -m course.progress.start_page lab/$(START_PAGE)
	@$(PY) -m nbformat.sign lab/$(START_PAGE) >/dev/null
	@root=; [ "$$(id -u)" != 0 ] || root=--allow-root; \
	    PATH="$$PWD/$(VENV)/bin:$$PATH"; export PATH; cd lab && exec python -m jupyterlab $$root \
	    --LabApp.default_url=/lab/tree/$(START_PAGE) $(LAB_ARGS)

formgrader: $(READY)  ## JupyterLab for instructors; COURSE=demo: on the simulated class
	@root=; [ "$$(id -u)" != 0 ] || root=--allow-root; \
	    PATH="$$PWD/$(VENV)/bin:$$PATH"; export PATH; cd '$(COURSE)' && exec python -m jupyterlab $$root \
	    --ServerApp.jpserver_extensions=autograder.formgrader=True $(LAB_ARGS)

release: $(READY)  ## write both editions of every lesson into release/
	@$(AUTOGRADER) release

wheel: $(READY)  ## build the package into dist/, for a notebook without network
	@rm -rf build dist
	@$(PY) -m pip wheel -qq --disable-pip-version-check --no-deps --no-build-isolation -w dist .
	@rm -rf build
	@ls dist/*.whl
	@echo 'Put it beside a self-study notebook, or upload it to Colab: the set-up cell installs it.'

site: $(READY) $(DIVES) $(SITE)  ## the site in site/: lessons with outputs, atlas of claims, pages for teachers
	@$(RUN) PYTHONHASHSEED=0 $(PY) -m docs.site

system:  ## install what some tests need besides: bubblewrap, Chromium, PostgreSQL (apt-get)
	@.ci/system

# --- check -------------------------------------------------------------------------------------

# Of wrong answers and mutants `make test` tries a tenth, of right answers three, always the same; it
# leaves out tests that are marked `exhaustive`, and says so. With -k a stage that fails does not end
# the run. SHARE=20% has `make test-all` try a fifth, DRAW=word another fifth for each word.
KEEP_GOING := $(if $(findstring k,$(firstword -$(MAKEFLAGS))),--keep-going)
SHARE ?= 100%
test: $(READY) $(DIVES) $(SITE)  ## all that a change can break: lint, types, drift, answers, pytest
	@$(RUN) $(PY) -m tests.stages $(KEEP_GOING)

test-all: $(READY) $(DIVES) $(SITE)  ## everything: every wrong answer and mutant, and the exhaustive tests
	@$(RUN) $(PY) -m tests.stages --everything $(KEEP_GOING)

lint: $(READY)  ## ruff on code and notebooks; what nobody uses, imports or declares
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m tools.unused
	@$(PY) -m deptry . --no-ansi

types: $(READY)  ## mypy on both packages
	@$(PY) -m mypy

drift: $(READY)  ## is release/ what source/ gives?
	@$(AUTOGRADER) release --check

answers: $(READY)  ## right and wrong answers, constants, and small changes to each solution
	@$(AUTOGRADER) check-answers --share $(SHARE)
	@$(AUTOGRADER) mutants --share $(SHARE)

mutants: $(READY)  ## small changes to each solution: which does no check notice? takes minutes
	@$(AUTOGRADER) mutants

# Three workers for two cores: tests wait for browsers, clocks and processes. With four, what has a
# clock of its own (Ray, JupyterLab) comes too late.
# They take files in our order, the long ones first, and not those with the most tests.
pytest: $(READY) $(DIVES) $(SITE)  ## the tests alone, on two cores
	@$(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder --durations 10 $(TESTS)

# A GPU machine may have no network: GPU_PYTHON=python3 uses its own PyTorch, without set-up.
ifdef GPU_PYTHON
test-gpu:
	@$(GPU_PYTHON) -c 'import torch; torch.cuda.is_available() or exit("make test-gpu: $(GPU_PYTHON) sees no NVIDIA GPU")'
	@$(GPU_PYTHON) -m pytest -m cuda
else
test-gpu: $(READY)  ## the tests that need an NVIDIA GPU
	@$(PY) -c 'import torch; torch.cuda.is_available() or exit("make test-gpu: PyTorch sees no NVIDIA GPU here")'
	@$(PYTEST) -m cuda
endif

# mutmut lives apart: its terminal interface brings packages that nothing else here needs.
MUTMUT   := mutmut==3.8.1
MUTATION := $(VENV)/mutation
# A part of them: MUTANTS='autograder.grading.sync.*'
MUTANTS  ?=
.PHONY: mutation
mutation: $(READY)  ## small changes to comparing, checking, judging: which ones does no test notice? takes long
	@test -x $(MUTATION)/bin/mutmut || $(PY) -m pip install -qq --disable-pip-version-check \
	    -c constraints.txt --target $(MUTATION) '$(MUTMUT)'
	@rm -rf mutants
	@$(RUN) PYTHONPATH=$(CURDIR)/$(MUTATION) PYTHONHASHSEED=0 $(PY) -m mutmut run --max-children 2 $(if $(MUTANTS),'$(MUTANTS)')
	@$(RUN) PYTHONPATH=$(CURDIR)/$(MUTATION) $(PY) -m mutmut results

# An environment of its own in .versions/, several GB; docs/versions.md tells what is measured.
ONLY    ?=
LESSON  ?=
REMOVE  ?=
versions: $(READY)  ## all lessons with another PyTorch: make versions TORCH=2.11.0 PYTHON=python3.13
	@[ '$(TORCH)' ] || { echo "make: say which PyTorch: make versions TORCH=2.11.0"; exit 2; } >&2
	@$(RUN) PYTHONHASHSEED=0 $(PY) -m tests.versions --torch '$(TORCH)' --python '$(PYTHON)' \
	    $(if $(ONLY),--only $(ONLY)) $(if $(LESSON),--lessons $(LESSON)) $(if $(REMOVE),--remove)

bench: $(READY)  ## wall and CPU against stock nbgrader
	@$(AUTOGRADER) bench

clean:  ## remove what can be made again; .venv, lab/ and a real class stay
	@rm -rf .autograder/kept .versions demo dist build site .site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@rm -rf tests/output
	@find course autograder tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
