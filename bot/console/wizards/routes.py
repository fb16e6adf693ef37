"""Routes of the wizards: the form, the step before the test, the test, and the end of each."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bot.console.wizards import models
from bot.console.wizards.base import (
    LookStep,
    Wizard,
    WizardField,
    WizardForm,
    WizardInput,
    WizardKind,
    WizardOption,
)
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response, request_language

Handler = Callable[[Request, models.WizardInputBody], Awaitable[Response]]


def wizard_routes(wizards: Sequence[Wizard]) -> tuple[Route, ...]:
    """Return the routes of these wizards, each with the action that its wizard needs."""
    return tuple(route for wizard in wizards for route in WizardRoutes(wizard).calls())


class WizardRoutes:
    """Handlers of one wizard."""

    def __init__(self, wizard: Wizard) -> None:
        self._wizard = wizard
        self._look: LookStep | None = getattr(wizard, "look", None)

    def calls(self) -> tuple[Route, ...]:
        """Return the routes."""
        form = Route(
            method="GET",
            path=f"/api/v1/wizards/{self._wizard.name}",
            action=self._wizard.action,
            handler=self.form,
            reply=models.WizardFormBody,
        )
        steps = [
            self._step("test", self.test, models.WizardReportBody),
            self._step("finish", self.finish, models.WizardEndBody),
        ]
        if self._look is not None:
            steps.append(self._step("look", self.look, models.WizardLookBody))
        return (form, *steps)

    def _step(self, name: str, handler: Handler, reply: type[BaseModel]) -> Route:
        return Route(
            method="POST",
            path=f"/api/v1/wizards/{self._wizard.name}/{name}",
            action=self._wizard.action,
            handler=handler,
            body=models.WizardInputBody,
            max_body=self._wizard.max_body,
            reply=reply,
        )

    async def form(self, request: Request) -> Response:
        """Return what there is to choose and to fill in."""
        return json_response(_form_json(await self._wizard.form(), request_language(request)))

    async def look(self, request: Request, body: models.WizardInputBody) -> Response:
        """Find what may be chosen in the next step."""
        lang = request_language(request)
        assert self._look is not None  # without it there is no such route
        found = await self._look(self._input(body), request)
        return json_response(
            {
                "items": [_option_json(option, lang) for option in found.options],
                "fault": found.fault.text(lang),
                "field": found.field,
                "said": found.said,
                "goes_on": found.goes_on,
            }
        )

    async def test(self, request: Request, body: models.WizardInputBody) -> Response:
        """Try what was filled in; nothing is stored."""
        lang = request_language(request)
        report = await self._wizard.test(self._input(body), request)
        items = [
            {
                "step": finding.step,
                "name": finding.name.text(lang),
                "state": finding.state,
                "text": finding.text.text(lang),
                "hint": finding.hint.text(lang),
            }
            for finding in report.findings
        ]
        return json_response({"items": items, "ok": report.ok, "said": report.said})

    async def finish(self, request: Request, body: models.WizardInputBody) -> Response:
        """Store what was filled in."""
        end = await self._wizard.finish(self._input(body), request)
        return json_response({"text": end.text.text(request_language(request)), "path": end.path})

    def _input(self, body: models.WizardInputBody) -> WizardInput:
        """Return what was filled in, of a kind that there is.

        Raises:
            HttpRefusal: there is no such kind.
        """
        if body.kind not in self._wizard.kinds:
            known = ", ".join(self._wizard.kinds)
            why = Phrase("there is no {kind}; available: {known}", kind=body.kind, known=known)
            raise HttpRefusal(400, "kind", why, field="kind")
        return WizardInput(kind=body.kind, values=body.values)


def _form_json(form: WizardForm, lang: str) -> dict[str, Any]:
    texts = {
        name: getattr(form, name).text(lang)
        for name in (
            "title",
            "about",
            "choose",
            "look",
            "test",
            "finish",
            "finish_anyway",
            "result",
            "untested",
            "testing",
        )
    }
    return {**texts, "kind": form.kind, "kinds": [_kind_json(kind, lang) for kind in form.kinds]}


def _kind_json(kind: WizardKind, lang: str) -> dict[str, Any]:
    return {
        "id": kind.id,
        "title": kind.title.text(lang),
        "note": kind.note.text(lang),
        "found": kind.is_found,
        "link": kind.link,
        "fields": [_field_json(field, lang) for field in kind.fields],
    }


def _field_json(field: WizardField, lang: str) -> dict[str, Any]:
    return {
        "name": field.name,
        "title": field.title.text(lang),
        "form": field.form,
        "help": field.help.text(lang),
        "example": field.example.text(lang),
        "value": field.value,
        "options": [_option_json(option, lang) for option in field.options],
        "required": field.required,
        "accept": field.accept,
    }


def _option_json(option: WizardOption, lang: str) -> dict[str, str]:
    return {
        "value": option.value,
        "title": option.title.text(lang),
        "note": option.note.text(lang),
    }
