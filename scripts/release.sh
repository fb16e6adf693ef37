#!/bin/sh
# Builds and checks a release in dist/; with --publish also tags, uploads and pushes it. See docs/release.md.
set -eu
cd "$(dirname "$0")/.."

twine=twine==7.0.0
cyclonedx=cyclonedx-bom==7.5.0
uvx=".venv/bin/uvx --quiet"
: "${IMAGE:?IMAGE must name the image, as in registry.example.org/mnema}"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)

say() { printf '%s\n' "$*" >&2; }

if [ -n "$(git status --porcelain)" ]; then
    say "The checkout has changes that are not committed: a release is what a commit holds."
    exit 1
fi
if ! grep -q "^## \[$version\] - [0-9]" CHANGELOG.md; then
    say "CHANGELOG.md gives $version no date: its section must begin with '## [$version] - YEAR-MONTH-DAY'."
    exit 1
fi

rm -rf dist
.venv/bin/python -m build --no-isolation
$uvx "$twine" check --strict dist/*.whl dist/*.tar.gz
$uvx --from "$cyclonedx" cyclonedx-py requirements requirements.lock --output-file "dist/mnema-bot-$version.cdx.json"
(cd dist && sha256sum -- * >SHA256SUMS)
say "dist/ holds release $version."

if [ "${1:-}" != --publish ]; then exit 0; fi
git tag -s "v$version" -m "Release $version"
$uvx "$twine" upload dist/*.whl dist/*.tar.gz
docker buildx build --platform linux/amd64,linux/arm64 -f deploy/Containerfile -t "$IMAGE:$version" --push .
git push origin "v$version"
say "Release $version is out. Put the files of dist/ on its page."
