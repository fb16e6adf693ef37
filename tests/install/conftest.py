"""The wheel and the source archive of this tree, built once for a process."""

from pathlib import Path

import pytest

from tests.install.environments import Built, build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def wheel(built: Built) -> Path:
    return built.wheel
