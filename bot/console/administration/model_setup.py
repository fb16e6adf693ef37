"""Routes of setting a model up: presets, the models of a server, the test of one, and its use."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.config.file import ConfigFile
from bot.config.keys import KEYS, MASK_PATTERN, REFERENCE_PATTERN, known_secrets
from bot.console.administration import models
from bot.console.administration.settings import SettingsRoutes
from bot.models.providers.accounts import ProviderAccount, configured_models
from bot.models.setup.checks import ModelReport, check_model
from bot.models.setup.listing import EndpointFault, ListedModel, find_local_servers
from bot.models.setup.listing import list_models as ask_models
from bot.models.setup.presets import (
    LOCAL_PRESETS,
    PRESETS,
    ModelChoice,
    Preset,
    build_llm_part,
)
from bot.telemetry.log import LogRedactor
from bot.texts import BilingualText
from channels.web.requests import HttpRefusal, Route, json_response, request_language

WRITE = "config.write"


class ModelSetupRoutes:
    """Handlers of the set-up of a model; nothing is saved before `use`."""

    def __init__(
        self, file: ConfigFile, settings: SettingsRoutes, local: tuple[Preset, ...] = LOCAL_PRESETS
    ) -> None:
        self._file = file
        self._settings = settings
        self._local = local

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/models"
        return (
            Route(
                method="GET",
                path=f"{path}/presets",
                action=WRITE,
                handler=self.presets,
                query=models.PresetsQueryBody,
                reply=models.PresetsBody,
            ),
            Route(
                method="POST",
                path=f"{path}/list",
                action=WRITE,
                handler=self.list_models,
                body=models.ModelEndpointBody,
                reply=models.ListedModelsBody,
            ),
            Route(
                method="POST",
                path=f"{path}/test",
                action=WRITE,
                handler=self.test,
                body=models.ModelTrialBody,
                reply=models.ModelReportBody,
            ),
            Route(
                method="POST",
                path=f"{path}/use",
                action=WRITE,
                handler=self.use,
                body=models.ModelChoiceBody,
            ),
        )

    async def presets(self, _: Request, query: models.PresetsQueryBody) -> Response:
        """Return the kinds of servers, and those that answer on this machine if they are asked
        for.
        """
        found = await find_local_servers(self._local) if query.local else []
        return json_response(
            {
                "items": [_preset_json(preset) for preset in PRESETS.values()],
                "found": [{"preset": preset.id, "base_url": preset.base_url} for preset in found],
            }
        )

    async def list_models(self, request: Request, body: models.ModelEndpointBody) -> Response:
        """Return the models that a server has, or why they are not known."""
        account, hide = await self._preview(request, self._to_choice(body))
        listing = await ask_models(account)
        reply: dict[str, Any] = {"items": [_listed_json(listed) for listed in listing.models]}
        if listing.fault is not None:
            reply["error"] = _fault_json(listing.fault, request_language(request), hide)
        return json_response(reply)

    async def test(self, request: Request, body: models.ModelTrialBody) -> Response:
        """Test a model at an endpoint; nothing is saved."""
        account, hide = await self._preview(request, self._to_choice(body))
        report = await check_model(account, body.model)
        return json_response(_report_json(report, request_language(request), hide))

    async def use(self, request: Request, body: models.ModelChoiceBody) -> Response:
        """Save an endpoint, its key and a model."""
        part = build_llm_part(self._to_choice(body), self._file.current.llm)
        return await self._settings.apply_part(request, {"llm": part}, needs_tag=False)

    def _to_choice(self, body: models.ModelEndpointBody) -> ModelChoice:
        preset = PRESETS.get(body.preset)
        if preset is None:
            known = ", ".join(PRESETS)
            raise HttpRefusal(
                400,
                "preset",
                f"there is no preset {body.preset}; there are {known}",
                field="preset",
            )
        choice = ModelChoice(
            preset=preset,
            base_url=body.base_url,
            api_key="" if MASK_PATTERN.search(body.api_key) else body.api_key,
            model=body.model if isinstance(body, models.ModelTrialBody) else "",
        )
        if isinstance(body, models.ModelChoiceBody):
            fallback = None if body.fallback is None else self._fill_keys(body.fallback)
            choice = replace(choice, fast_model=body.fast_model, fallback=fallback)
        if preset.id == "own" and not choice.address:
            raise HttpRefusal(
                400, "base_url", "the address of the server is missing", field="base_url"
            )
        _refuse_references(choice)
        return choice

    def _fill_keys(self, fallback: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the items with the keys that are saved for their endpoints, where they name
        none.
        """
        saved = {_endpoint(item): item.get("api_key", "") for item in self._saved_endpoints()}
        return [
            {**item, "api_key": saved.get(_endpoint(item), "")} if _lacks_key(item) else item
            for item in fallback
        ]

    def _saved_endpoints(self) -> list[dict[str, Any]]:
        """Return the endpoints as they are written, references and all; the one in use last."""
        written = self._file.written(KEYS["llm", "fallback"]) or []
        llm = self._file.current.llm
        key = self._file.written(KEYS["llm", "api_key"]) or ""
        return [*written, {"provider": llm.provider, "base_url": llm.base_url, "api_key": key}]

    async def _preview(
        self, request: Request, choice: ModelChoice
    ) -> tuple[ProviderAccount, LogRedactor]:
        """Return the account of a choice as it would be in use, and what hides its secrets."""
        part = build_llm_part(choice, self._file.current.llm)
        config = await self._settings.preview_part(request, {"llm": part})
        return configured_models(config.llm)[0], LogRedactor(known_secrets(config))


def _refuse_references(choice: ModelChoice) -> None:
    """Refuse what would send an environment variable anywhere but a vendor's key to that vendor.

    A try needs no fresh login, so that it must not reach what the environment holds.
    """
    preset = choice.preset
    own_key = f"${{{preset.key_variable}}}"
    is_own = choice.api_key == own_key and choice.address in (
        preset.base_url,
        preset.other_base_url,
    )
    values = (
        choice.base_url,
        choice.model,
        choice.fast_model or "",
        "" if is_own else choice.api_key,
    )
    if any(REFERENCE_PATTERN.search(value) for value in values):
        message = (
            "a reference to an environment variable is written in Settings; here enter the value "
            "itself"
        )
        raise HttpRefusal(400, "reference", message)


def _endpoint(item: dict[str, Any]) -> tuple[str, str]:
    return str(item.get("provider", "anthropic")), str(item.get("base_url", "")).rstrip("/")


def _lacks_key(item: dict[str, Any]) -> bool:
    key = item.get("api_key", "")
    return not key or (isinstance(key, str) and MASK_PATTERN.search(key) is not None)


def _preset_json(preset: Preset) -> dict[str, Any]:
    return {
        "id": preset.id,
        "title": _texts_json(preset.title),
        "provider": preset.provider,
        "base_url": preset.base_url,
        "other_base_url": preset.other_base_url,
        "needs_key": preset.needs_key,
        "key_page": preset.key_page,
        "local": preset.is_local,
    }


def _texts_json(text: BilingualText) -> dict[str, str]:
    return {"zh": text[0], "en": text[1]}


def _listed_json(listed: ListedModel) -> dict[str, Any]:
    window = {"context_window": listed.window} if listed.window else {}
    return {"id": listed.id, **window}


def _fault_json(fault: EndpointFault, lang: str, hide: LogRedactor) -> dict[str, str]:
    return {
        "code": fault.code,
        "message": hide(fault.text[lang != "zh"]),
        "server_words": hide(fault.words),
    }


def _report_json(report: ModelReport, lang: str, hide: LogRedactor) -> dict[str, Any]:
    side = lang != "zh"
    return {
        "checks": [
            {"id": check.id, "state": check.state, "text": hide(check.text[side])}
            for check in report.checks
        ],
        "window": report.window.tokens if report.window else None,
        "window_source": report.window.source if report.window else "",
        "ok": report.is_usable,
        "server_words": hide(report.server_words),
    }
