# Two commands matter: `make demo` and `make test`. Both set up all they need.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test fuzz-ui pictures lint evidence evidence-dashboard bench bench-peers torture torture-long museum audit clean

help:
	@echo "make demo   the queue at work, on a PostgreSQL that starts by itself (under a minute)"
	@echo "make test   linters, types, import contracts and every test, on real PostgreSQL servers"
	@echo "make fuzz-ui  20,000 requests to the dashboard made from its own description, half of them by schemathesis (a few hundred are part of make test)"
	@echo "make evidence  figures that take minutes: claims, and lists, beside millions of others"
	@echo "make evidence-dashboard  every page of the dashboard beside 10 M jobs, and what ten viewers cost the workers (HOWDAH_LIST_JOBS=n)"
	@echo "make pictures  the documentation's pictures of the dashboard, made anew by the tests in Chromium"
	@echo "make bench  every goal of speed, on a PostgreSQL of its own (hours; BENCH=--quick: minutes)"
	@echo "make bench-peers  Howdah beside its peers: installs them, measures for about 40 minutes (estimated), writes docs/benchmarks.md"
	@echo "make torture  half an hour of kills, crashes, failovers and cut networks, with a verdict, then model steps and the museum (SEED=n repeats a schedule; torture-long: 8 hours)"
	@echo "make museum  bugs that job queues have had, planted one at a time: which test catches which (minutes; part of make test)"
	@echo "make audit  whether a known vulnerability stands in a pinned version; fails if its data cannot be reached"
	@echo "make lint   only the checks that need no server"
	@echo "make setup  the virtual environment in $(VENV)"

$(STAMP): pyproject.toml constraints.txt requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]' -r requirements-dev.txt
	@touch $(STAMP)

setup: $(STAMP)

demo: setup
	$(BIN)/howdah demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: lint
	# Three on two cores: tests wait for processes and servers two fifths of their time.
	$(BIN)/pytest -n 3 $(TESTS)

REQUESTS ?= 10000
fuzz-ui: setup
	HOWDAH_FUZZ_REQUESTS=$(REQUESTS) $(BIN)/pytest tests/dashboard/test_fuzz.py tests/dashboard/test_schemathesis.py -q -s --timeout 3600

evidence: setup
	$(BIN)/pytest evidence -s -q -p no:xdist --timeout 1800

evidence-dashboard: setup
	$(BIN)/pytest evidence/test_dashboard_at_size.py -s -q -p no:xdist --timeout 7200

pictures: setup
	HOWDAH_REQUIRE_PROGRAMS=1 HOWDAH_DOC_PICTURES=1 $(BIN)/pytest tests/browser

bench: setup
	$(BIN)/howdah bench --goals --private $(BENCH)

# The rig alone takes half an hour, or 8; then come the disk that is full (77: this account may not mount one), the steps of the
# model, and the museum.
torture: TIER = night
torture: STEPS = 200000
torture-long: TIER = long
torture-long: STEPS = 2000000
torture torture-long: setup
	$(BIN)/python -m torture --tier $(TIER) $(if $(SEED),--replay $(SEED))
	$(BIN)/python -m torture --tier disk || [ $$? -eq 77 ]
	HOWDAH_MODEL_STEPS=$(STEPS) $(BIN)/pytest tests/model -n 2
	$(BIN)/python -m museum

museum: setup
	$(BIN)/python -m museum $(EXHIBITS)

audit: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-audit.txt
	$(BIN)/python -m audit

ROUNDS ?= 5
bench-peers:
	$(PYTHON) -m benchmarks.install
	benchmarks/.venv/bin/python -m benchmarks --rounds $(ROUNDS) $(BENCH_ARGS)
	benchmarks/.venv/bin/python -m benchmarks.report

clean:
	rm -rf $(VENV) .howdah build dist
