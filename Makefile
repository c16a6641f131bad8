# Each target sets up what it needs. The stamps let a second run start without asking pip.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup run lint style imports types scripts quick test nightly bench format

setup: .venv/app.stamp

run: .venv/app.stamp
	@$(BIN)/python -m streamlit run app.py

# The types of the Python take longest; beside them its style and imports, and all of the JavaScript.
lint: .venv/test.stamp node_modules/.stamp
	@$(MAKE) --no-print-directory --jobs 2 types style imports scripts

types: .venv/test.stamp
	@$(BIN)/basedpyright --pythonpath $(BIN)/python

style: .venv/test.stamp
	@$(BIN)/python -m ruff format --check
	@$(BIN)/python -m ruff check

imports: .venv/test.stamp
	@$(BIN)/lint-imports --no-logo

scripts: node_modules/.stamp
	@scripts/npm run lint

# A file's tests stay together: they share what is costly to set up. Two processes of one thread each
# are quicker than two that both want every core.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile \
  --no-loadscope-reorder

quick: .venv/test.stamp
	@$(PYTEST) -m "not browser and not slow and not nightly"

# The whole suite that protects a change, and what CI runs: see CONTRIBUTING.md.
test: .venv/test.stamp
	@$(BIN)/python -m tests.browser
	@$(PYTEST) -m "not nightly"

nightly: .venv/test.stamp
	@$(BIN)/python -m tests.browser
	@$(PYTEST)

bench: .venv/test.stamp .venv/peer.stamp
	@$(BIN)/python -m tests.browser
	@$(BIN)/python -m tests.benchmarks

format: .venv/test.stamp node_modules/.stamp
	@$(BIN)/python -m ruff format
	@$(BIN)/python -m ruff check --fix
	@scripts/npm run format

# First what is locked by hash, then torch, whose hash differs from build to build.
.venv/app.stamp: requirements.txt requirements.lock .venv/venv.stamp
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps \
	  -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/test.stamp: tests/requirements.txt .venv/app.stamp
	$(BIN)/python -m pip install --disable-pip-version-check -r $<
	@touch $@

node_modules/.stamp: package.json package-lock.json .venv/test.stamp
	@scripts/npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

# BertViz, which the benchmarks compare with. They do without it where this fails, so make goes on.
.venv/peer.stamp: tests/benchmarks/requirements.txt tests/benchmarks/package.json .venv/test.stamp
	@mkdir -p .venv/npm && cp tests/benchmarks/package.json .venv/npm/
	@$(BIN)/python -m pip install --disable-pip-version-check --no-deps -r $< \
	  && npm install --prefix .venv/npm --no-package-lock --ignore-scripts --no-audit --no-fund \
	  && touch $@ || echo "BertViz could not be installed; the benchmarks go on without it"

# Not the interpreter itself: an interrupted start leaves one behind that has no pip.
.venv/venv.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
	  "Headlight needs Python 3.11 or newer; name one, for example: make PYTHON=python3.12 run"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo \
	  "$(PYTHON) has no venv module; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	@touch $@
