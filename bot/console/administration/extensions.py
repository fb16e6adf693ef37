"""Routes of skills and MCP servers: what each holds, and its review, which is bound to what was
shown by hash.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.administration import models
from bot.console.transcripts import CONSOLE_ACTOR
from bot.tools.mcp.connection import McpError
from bot.tools.mcp.service import McpServerView, McpTools, source_sha256
from bot.tools.skills.library import (
    EVERYONE,
    FOLDER,
    OWNER_ONLY,
    EnabledSkill,
    Skill,
    SkillInvalid,
    SkillLibrary,
    hash_files,
)
from bot.tools.skills.review import read_folder, review
from channels.phrases import AnyPhrase, Phrase, untranslated
from channels.web.requests import HttpRefusal, Route, json_response, request_language
from memory.store.automation.mcp import McpChoice, McpToolRow
from memory.store.store import Store
from memory.text.invisible import show_invisible

READ, WRITE = "console.read", "extension.write"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRoutes:
    """Handlers of the owner's skills."""

    library: SkillLibrary
    store: Store
    #: The owner's workspace.
    workspace: Path

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        one = "/api/v1/skills/{name}"
        return (
            Route(
                method="GET",
                path="/api/v1/skills",
                action=READ,
                handler=self.list,
                reply=models.SkillListBody,
            ),
            Route(
                method="GET",
                path=one,
                action=READ,
                handler=self.skill,
                reply=models.SkillReviewBody,
            ),
            Route(
                method="POST",
                path=one,
                action=WRITE,
                handler=self.switch,
                body=models.SkillSwitchBody,
            ),
        )

    async def list(self, request: Request) -> Response:
        """Return all skills of the owner's workspace."""
        skills = await asyncio.to_thread(self.library.all)
        lang = request_language(request)
        return json_response({"items": [self._skill_json(skill, lang) for skill in skills]})

    async def skill(self, request: Request) -> Response:
        """Return what a person has to see before they enable a skill."""
        skill = await self._find(request)
        try:
            lines = await asyncio.to_thread(
                _review_lines, skill, self.workspace / FOLDER / skill.name
            )
        except (SkillInvalid, OSError) as err:
            why = err.phrase if isinstance(err, SkillInvalid) else untranslated(err)
            lines = [Phrase("It cannot be enabled: {why}.", why=why)]
        return json_response(
            {
                **self._skill_json(skill, request_language(request)),
                "review": [line.text(request_language(request)) for line in lines],
                "body": skill.body,
                "files": list(skill.files),
            }
        )

    async def switch(self, request: Request, body: models.SkillSwitchBody) -> Response:
        """Enable a skill as it was shown, or turn it off."""
        skill = await self._find(request)
        key = self.library.key(skill.name)
        if not body.on:
            await asyncio.to_thread(self.library.state.set, key, None)
            await self.store.note("skill", skill.name, "off", CONSOLE_ACTOR)
            return json_response(self._skill_json(skill, request_language(request)))
        if skill.problem:
            raise HttpRefusal(
                409,
                "invalid",
                Phrase(
                    "{name} cannot be enabled: {problem}", name=skill.name, problem=skill.problem
                ),
            )
        if body.sha256 != skill.sha256:
            raise HttpRefusal(
                409,
                "changed",
                Phrase("{name} differs from what was shown; read it again", name=skill.name),
            )
        spaces = EVERYONE if body.everyone else OWNER_ONLY
        row = EnabledSkill(sha256=skill.sha256, spaces=spaces)
        await asyncio.to_thread(self.library.state.set, key, row)
        await self.store.note(
            "skill",
            skill.name,
            "on",
            CONSOLE_ACTOR,
            args={"sha256": skill.sha256, "spaces": spaces},
        )
        return json_response(self._skill_json(skill, request_language(request)))

    async def _find(self, request: Request) -> Skill:
        name = str(request.path_params["name"])
        skills = await asyncio.to_thread(self.library.all)
        found = next((skill for skill in skills if skill.name == name), None)
        if found is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such skill in the workspace"))
        return found

    def _skill_json(self, skill: Skill, lang: str) -> dict[str, Any]:
        row = self.library.state.load().get(self.library.key(skill.name))
        state = "off" if row is None else "changed" if row.sha256 != skill.sha256 else "on"
        chinese = skill.description_zh if lang == "zh" else ""
        return {
            "name": skill.name,
            "description": chinese or skill.description,
            "state": "invalid" if skill.problem else state,
            "everyone": row is not None and row.spaces == EVERYONE,
            "problem": skill.problem.text(lang),
            "sha256": skill.sha256,
        }


def _review_lines(skill: Skill, folder: Path) -> list[AnyPhrase]:
    """Return what a person has to see of a skill before they enable it by its hash."""
    contents = read_folder(folder)
    lines = review(skill.name, contents)
    if hash_files(contents) != skill.sha256:
        raise SkillInvalid(
            Phrase("its folder is being changed, or contains files that are not part of a skill")
        )
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class McpRoutes:
    """Handlers of the configured servers of tools."""

    tools: McpTools

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        one, body, reply = "/api/v1/mcp/{name}", models.McpReviewBody, models.McpServerBody
        return (
            Route(
                method="GET",
                path="/api/v1/mcp",
                action=READ,
                handler=self.list,
                reply=models.McpListBody,
            ),
            Route(
                method="POST",
                path=f"{one}/list",
                action=WRITE,
                handler=self.list_again,
                reply=reply,
            ),
            Route(
                method="POST",
                path=f"{one}/review",
                action=WRITE,
                handler=self.review,
                body=body,
                reply=reply,
            ),
        )

    async def list(self, _: Request) -> Response:
        """Return the configured servers and their tools, as they were listed last."""
        return json_response({"items": [self._server_json(view) for view in self.tools.views()]})

    async def list_again(self, request: Request) -> Response:
        """Start a server, and return its tools as they are now."""
        view = self._find(request)
        try:
            await self.tools.list_again(view.name)
        except McpError as err:
            raise HttpRefusal(
                502,
                "down",
                Phrase("the tools of {name} could not be listed: {err}", name=view.name, err=err),
            ) from err
        return json_response(self._server_json(self._find(request)))

    async def review(self, request: Request, body: models.McpReviewBody) -> Response:
        """Store which tools the model may use, each as it was shown."""
        view = self._find(request)
        if body.source != source_sha256(self.tools.settings(view.name)):
            raise HttpRefusal(
                409,
                "changed",
                Phrase(
                    "config.json now names another program for {name}; read it again",
                    name=view.name,
                ),
            )
        choices = [
            McpChoice(
                name=choice.name, mode=choice.mode, effect=choice.effect, sha256=choice.sha256
            )
            for choice in body.choices
        ]
        if missed := await self.tools.review(view.name, choices, CONSOLE_ACTOR):
            raise HttpRefusal(
                409,
                "changed",
                Phrase(
                    "these have changed since they were shown; reload and review them again: "
                    "{missed}",
                    missed=", ".join(missed),
                ),
            )
        return json_response(self._server_json(self._find(request)))

    def _find(self, request: Request) -> McpServerView:
        name = str(request.path_params["name"])
        found = next((view for view in self.tools.views() if view.name == name), None)
        if found is None:
            raise HttpRefusal(404, "not_found", Phrase("config.json has no such server under mcp"))
        return found

    def _server_json(self, view: McpServerView) -> dict[str, Any]:
        settings = self.tools.settings(view.name)
        return {
            "name": view.name,
            "state": view.status.state,
            "why": view.status.why,
            "reviewed": view.reviewed,
            "source": source_sha256(settings),
            "command": list(settings.command),
            "url": settings.url,
            "network": settings.network,
            "spaces": list(settings.spaces),
            "tools": [
                _tool_json(row, reviewed=view.reviewed) for row in self.tools.listed(view.name)
            ],
        }


def _tool_json(row: McpToolRow, *, reviewed: bool) -> dict[str, Any]:
    new = row.reviewed_sha256 == "" or not reviewed
    state = "new" if new else "changed" if row.sha256 != row.reviewed_sha256 else "settled"
    return {
        "name": row.name,
        "description": show_invisible(row.description),
        "schema": json.loads(row.schema),
        "read_only": row.read_only,
        "sha256": row.sha256,
        "state": state,
        "mode": row.mode,
        "effect": row.effect,
    }
