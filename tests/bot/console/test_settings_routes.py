"""Changes of settings over HTTP: each is of the file that was read, also when two come at once."""

import asyncio
import json
from pathlib import Path

from bot.config.file import ConfigFile
from bot.console.administration.settings import SettingsRoutes
from tests.channels.web.server import ScriptedHouse, running
from tests.memory.store.conftest import SqliteRecord, record  # noqa: F401  a fixture


async def test_of_changes_of_one_text_the_first_is_made_and_the_others_are_refused(
    tmp_path: Path,
    record: SqliteRecord,  # noqa: F811
) -> None:
    file = ConfigFile(tmp_path / "config.json", {})
    file.create()
    file.load()
    routes = SettingsRoutes(file, await record.open(), {}).calls()
    async with running(ScriptedHouse(), routes) as site, site.client() as client:
        read = await client.get("/api/v1/config/source")
        tag = {"if-match": read.headers["etag"]}
        texts = [json.dumps({"language": "zh", "concurrency": number}) for number in range(8, 16)]
        answers = await asyncio.gather(
            *(client.put("/api/v1/config/source", json={"text": text}, headers=tag) for text in texts),
            client.patch("/api/v1/config", json={"language": "en"}, headers=tag),
        )
        made = [number for number, answer in enumerate(answers) if answer.status_code == 200]
        assert sorted(answer.status_code for answer in answers) == [200, *[412] * len(texts)]
        assert (await client.put("/api/v1/config/source", json={"text": texts[0]})).status_code == 428
    written = file.path.read_text()
    assert written in texts if made[0] < len(texts) else json.loads(written)["language"] == "en"
