# One command each. Needs Python >= 3.11 with pip, make and git; all else is installed into .venv.
.SILENT:
.PHONY: chat setup extras test check bench mutants nightly lock format clean

# two workers for each core, for a third of the time they wait; who is done takes from those who are not
ARGS ?= -n $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 ))) --dist worksteal

chat:            # talk to the bot; this folder is its home
	scripts/setup.sh && exec .venv/bin/mnema --home . chat

setup:           # what `make chat` needs, without starting it
	scripts/setup.sh

extras:          # what a feature beside the core needs: NAME=vectors, embeddings, scale or otel
	scripts/setup.sh extra "$(NAME)"

test:            # every test that needs no outside service; ARGS="-k name" runs some
	scripts/setup.sh dev && exec .venv/bin/pytest $(ARGS)

check:           # what must hold before a commit
	scripts/setup.sh dev
	.venv/bin/ruff format --check -q .
	.venv/bin/ruff check -q .
	.venv/bin/mypy
	scripts/lock.sh --check
	$(MAKE) --no-print-directory test

bench:           # every figure against its floor
	scripts/setup.sh dev && exec .venv/bin/python -m benchmarks

mutants:         # put each known fault into a copy and see that the tests notice
	scripts/setup.sh dev && exec .venv/bin/python -m tests.mutants.run

nightly:         # new examples, 300 kills on each channel, all mutants; NIGHT="--only kills" runs some
	scripts/setup.sh dev && exec .venv/bin/python -m tests.nightly $(NIGHT)

lock:            # all lock files from pyproject.toml
	scripts/setup.sh dev && scripts/lock.sh

format:          # lay the code out and mend what can be mended
	scripts/setup.sh dev && .venv/bin/ruff format -q . && .venv/bin/ruff check -q --fix .

clean:           # what is made anew by the next command; never data, workspace or config.json
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
