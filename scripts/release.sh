#!/bin/sh
# Builds and checks a release in dist/; with --publish also tags, uploads and pushes it. See docs/release.md.
# After a failure the same command goes on: what was built from this commit is not built again, and what is out stays.
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

commit=$(git rev-parse HEAD)
if [ "$(cat dist/.built-from 2>/dev/null)" != "$commit" ]; then
    rm -rf dist
    .venv/bin/python -m build --no-isolation
    $uvx "$twine" check --strict dist/*.whl dist/*.tar.gz
    $uvx --from "$cyclonedx" cyclonedx-py requirements requirements.lock --output-file "dist/mnema-bot-$version.cdx.json"
    (cd dist && sha256sum -- * >SHA256SUMS)
    echo "$commit" >dist/.built-from
fi
say "dist/ holds release $version."

if [ "${1:-}" != --publish ]; then exit 0; fi
if ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
    git tag -s "v$version" -m "Release $version"
elif [ "$(git rev-parse "v$version^{commit}")" != "$commit" ]; then
    say "The tag v$version is of another commit: give the release its next number."
    exit 1
fi
for file in dist/*.whl dist/*.tar.gz; do
    # an index takes each file once; one by one, so that a second attempt sends only what is missing
    uploaded=dist/.uploaded-$(basename "$file")
    if [ ! -e "$uploaded" ]; then
        $uvx "$twine" upload "$file"
        touch "$uploaded"
    fi
done
docker buildx build --platform linux/amd64,linux/arm64 -f deploy/Containerfile -t "$IMAGE:$version" --push .
git push origin "v$version"
say "Release $version is out. Put the files of dist/ on its page."
