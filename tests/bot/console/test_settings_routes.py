"""Changes of settings over HTTP: each is of the file that was read, also when two come at once."""

import asyncio
import json
from pathlib import Path

from bot.config.file import ConfigFile
from bot.console.administration.settings import SettingsRoutes
from channels.web.auth import FRESH_SECONDS
from tests.channels.web.server import TOKEN, ScriptedBot, running
from tests.memory.store.conftest import SqliteRecord, record  # noqa: F401  a fixture


def config_file(folder: Path) -> ConfigFile:
    file = ConfigFile(folder / "config.json", {})
    file.create()
    file.load()
    return file


async def test_of_changes_of_one_text_the_first_is_made_and_the_others_are_refused(
    tmp_path: Path,
    record: SqliteRecord,  # noqa: F811
) -> None:
    file = config_file(tmp_path)
    routes = SettingsRoutes(file, await record.open(), {}).calls()
    async with running(ScriptedBot(), routes) as site, site.client() as client:
        read = await client.get("/api/v1/config/source")
        tag = {"if-match": read.headers["etag"]}
        texts = [json.dumps({"language": "zh", "concurrency": number}) for number in range(8, 16)]
        answers = await asyncio.gather(
            *(
                client.put("/api/v1/config/source", json={"text": text}, headers=tag)
                for text in texts
            ),
            client.patch("/api/v1/config", json={"language": "en"}, headers=tag),
        )
        made = [number for number, answer in enumerate(answers) if answer.status_code == 200]
        assert sorted(answer.status_code for answer in answers) == [200, *[412] * len(texts)]
        assert (
            await client.put("/api/v1/config/source", json={"text": texts[0]})
        ).status_code == 428
    written = file.path.read_text()
    assert written in texts if made[0] < len(texts) else json.loads(written)["language"] == "en"


async def test_secrets_where_they_are_sent_and_roles_are_changed_after_a_login_of_the_last_ten_minutes(  # noqa: E501
    tmp_path: Path,
    record: SqliteRecord,  # noqa: F811
) -> None:
    now = [0.0]
    file = config_file(tmp_path)
    routes = SettingsRoutes(file, await record.open(), {}).calls()
    async with (
        running(ScriptedBot(), routes, clock=lambda: now[0]) as site,
        site.nobody() as client,
    ):
        client.headers["origin"] = site.base
        client.headers["x-csrf-token"] = (
            await client.post("/login", json={"token": TOKEN})
        ).json()["csrf"]

        async def put(method: str, path: str, body: object) -> int:
            tag = (await client.get("/api/v1/config/source")).headers["etag"]
            return (
                await client.request(
                    method, f"/api/v1/config{path}", json=body, headers={"if-match": tag}
                )
            ).status_code

        first = file.versions()[0].id
        llm = {"api_key": "sk-of-the-owner"}
        sensitive: tuple[dict[str, object], ...] = (
            {"llm": llm},
            {"llm": {"base_url": "https://elsewhere.example"}},
            {"llm": {"fallback": [{"model": "m", "api_key": "sk-another-one"}]}},
            {"channels": {"telegram": {"owners": ["66"]}}},
        )
        now[0] = FRESH_SECONDS
        assert await put("PATCH", "", {"llm": llm}) == 200
        now[0] = FRESH_SECONDS + 1
        assert await put("PATCH", "", {"concurrency": 9}) == 200
        assert (
            await put(
                "PATCH", "", {"llm": {"api_key": file.masked()["llm"]["api_key"]}, "language": "zh"}
            )
            == 200
        )
        for part in sensitive[1:]:
            assert await put("PATCH", "", part) == 403
        source = (await client.get("/api/v1/config/source")).json()["text"]
        assert await put("PUT", "/source", {"text": source.replace('"zh"', '"en"')}) == 200
        assert await put("PUT", "/source", {"text": source.replace("sk-o…", "sk-x…")}) == 403
        assert await put("POST", f"/versions/{first}/restore", {}) == 403
        assert await put("POST", f"/versions/{file.versions()[1].id}/restore", {}) == 200
        now[0] = FRESH_SECONDS
        for part in sensitive:
            assert await put("PATCH", "", part) == 200


async def test_what_the_form_is_made_from_is_compressed_for_who_takes_it(
    tmp_path: Path,
    record: SqliteRecord,  # noqa: F811
) -> None:
    file = config_file(tmp_path)
    async with (
        running(ScriptedBot(), SettingsRoutes(file, await record.open(), {}).calls()) as site,
        site.client() as client,
    ):
        short = await client.get("/api/v1/config/keys", headers={"accept-encoding": "gzip"})
        whole = await client.get("/api/v1/config/keys", headers={"accept-encoding": "identity"})
    assert (short.headers.get("content-encoding"), whole.headers.get("content-encoding")) == (
        "gzip",
        None,
    )
    assert short.json() == whole.json()
    assert int(short.headers["content-length"]) * 3 < int(whole.headers["content-length"])
    assert short.headers["cache-control"] == whole.headers["cache-control"] == "no-store"
