# One command each. Needs Python >= 3.11 with pip, make and git; all else is installed into .venv.
.SILENT:
.PHONY: chat setup extras test quick check lint texts page page-check screenshots bench mutants nightly lock format clean

# seven processes for two cores: tests wait three quarters of their time
ARGS ?= --forks $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 7 / 2 )))

chat:            # talk to the bot; this folder is its home
	scripts/setup.sh && exec .venv/bin/mnema --home . chat

setup:           # what `make chat` needs, without starting it
	scripts/setup.sh

extras:          # what a feature beside the core needs: NAME=vectors, embeddings, web, mcp, scale, otel or passkeys
	scripts/setup.sh extra "$(NAME)"

test:            # every test that needs no outside service; ARGS="-k name" runs some
	scripts/setup.sh dev && exec scripts/test.sh $(ARGS)

quick:           # the tests of parts: no process, no emulator, no whole bot; a minute
	scripts/setup.sh dev && exec scripts/test.sh --quick $(ARGS)

check: lint test # everything that must pass before a commit

lint:            # format, rules, types and lock files
	scripts/setup.sh dev
	.venv/bin/ruff format --check -q .
	.venv/bin/ruff check -q .
	.venv/bin/mypy
	scripts/lock.sh --check

texts:           # put new sentences into channels/locale/zh.po, and list those without Chinese
	scripts/setup.sh dev && exec .venv/bin/python -m scripts.phrases

page:            # build the page from its source in channels/web/ui; Node comes from a wheel where there is none
	scripts/setup.sh dev && exec scripts/page.sh

page-check:      # types and unit tests of the page, and that its committed files are what its source builds
	scripts/setup.sh dev && exec scripts/page.sh check

screenshots:     # the pictures of README, light and dark, from a seeded home
	scripts/setup.sh dev && exec .venv/bin/python -m tests.browser.screenshot docs/images

bench:           # measure every figure beside its floor; ARGS="turn_cpu" measures one, ARGS=--list names them
	scripts/setup.sh dev && exec .venv/bin/python -m benchmarks $(if $(filter file,$(origin ARGS)),,$(ARGS))

mutants:         # apply each known fault in files that you changed to a copy; some test must fail (make nightly: all)
	scripts/setup.sh dev && exec .venv/bin/python -m tests.mutants.run --changed $(if $(filter file,$(origin ARGS)),,$(ARGS))

nightly:         # new examples, 300 kills on each channel, all mutants; NIGHT="--only kills" runs some
	scripts/setup.sh dev && exec .venv/bin/python -m tests.nightly $(NIGHT)

lock:            # all lock files from pyproject.toml
	scripts/setup.sh dev && scripts/lock.sh

format:          # format the code and apply automatic fixes
	scripts/setup.sh dev && .venv/bin/ruff format -q . && .venv/bin/ruff check -q --fix .

clean:           # everything the next command makes again; never data, workspace or config.json
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
