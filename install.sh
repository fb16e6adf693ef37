#!/bin/sh
# Installs mnema for this account by uv, which is fetched by pip if it is missing. --uninstall removes the program.
set -eu
package=${MNEMA_PACKAGE:-mnema-bot} # or the path of a wheel
uv=uv==0.13.8                        # the version that the tests of each way in use
own=${XDG_DATA_HOME:-$HOME/.local/share}/mnema-uv
bin=$HOME/.local/bin
PATH=$PATH:$bin
say() { printf '%s\n' "$*" >&2; }

if [ "${1:-}" = --uninstall ]; then
    uv tool uninstall mnema-bot
    say "mnema is removed. What stays: your bot in $HOME/.mnema (conversations, memory, settings, keys)"
    if [ -d "$own" ]; then say "and uv in $own, linked as $bin/uv. Delete the folders if you do not want them."; fi
    exit 0
fi
if ! command -v uv >/dev/null; then
    if ! python3 -m venv "$own" >&2; then
        say "mnema needs uv, or Python 3 with its venv module (Debian and Ubuntu: apt-get install python3-venv)."
        exit 1
    fi
    say "fetching uv into $own"
    "$own/bin/python" -m pip install -q --disable-pip-version-check "$uv"
    mkdir -p "$bin" && ln -sf "$own/bin/uv" "$bin/uv"
fi
uv tool install --python '>=3.11' "$package"
say "mnema is installed. Next: mnema   (if it is not found, open a new terminal after: uv tool update-shell)"
