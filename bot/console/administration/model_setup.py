"""Routes of setting a model up: presets, the models of a server, the test of one, and its use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.config.file import ConfigFile
from bot.config.keys import KEYS, MASK_PATTERN, REFERENCE_PATTERN, known_secrets
from bot.console.administration import models
from bot.console.administration.settings import SettingsRoutes
from bot.models.providers.accounts import ProviderAccount, configured_models
from bot.models.setup.checks import ModelReport, check_model
from bot.models.setup.listing import (
    EndpointFault,
    ListedModel,
    ModelListing,
    find_local_servers,
)
from bot.models.setup.listing import list_models as ask_models
from bot.models.setup.presets import (
    LOCAL_PRESETS,
    PRESETS,
    ModelChoice,
    Preset,
    build_llm_part,
    find_preset,
)
from bot.telemetry.log import LogRedactor
from channels.phrases import AnyPhrase, Phrase
from channels.web.requests import HttpRefusal, Route, json_response, request_language

WRITE = "config.write"
_SECRETS = ("api_key", "proxy")  # of an endpoint, shown masked


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedEndpoint:
    """The endpoint in use, or one of the chain behind it."""

    #: As the settings show it: with its defaults, and masked secrets.
    shown: dict[str, Any]
    #: As the file has it.
    written: dict[str, Any]


NOTHING_SAVED = SavedEndpoint(shown={}, written={})


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
        found = await self.find_local() if query.local else []
        return json_response(
            {
                "items": [_preset_json(preset) for preset in PRESETS.values()],
                "found": [{"preset": preset.id, "base_url": preset.base_url} for preset in found],
            }
        )

    async def list_models(self, request: Request, body: models.ModelEndpointBody) -> Response:
        """Return the models that a server has, or why they are not known."""
        listing, hide = await self.ask(request, body)
        reply: dict[str, Any] = {"items": [_listed_json(listed) for listed in listing.models]}
        if listing.fault is not None:
            reply["error"] = _fault_json(listing.fault, request_language(request), hide)
        return json_response(reply)

    async def test(self, request: Request, body: models.ModelTrialBody) -> Response:
        """Test a model at an endpoint; nothing is saved."""
        report, hide = await self.check(request, body)
        return json_response(_report_json(report, request_language(request), hide))

    async def find_local(self) -> Sequence[Preset]:
        """Return the servers that answer on this machine."""
        return await find_local_servers(self._local)

    async def ask(
        self, request: Request, body: models.ModelEndpointBody
    ) -> tuple[ModelListing, LogRedactor]:
        """Return the models of a server, and what hides its secrets."""
        account, hide = await self._preview(request, self.to_choice(body))
        return await ask_models(account), hide

    async def check(
        self, request: Request, body: models.ModelTrialBody
    ) -> tuple[ModelReport, LogRedactor]:
        """Return the report of a model at an endpoint, and what hides its secrets."""
        account, hide = await self._preview(request, self.to_choice(body, body.model))
        return await check_model(account, body.model), hide

    def saved(self, preset: Preset) -> dict[str, Any]:
        """Return the endpoint that is saved for a kind of server, its key masked; {} for none."""
        known = (endpoint.shown for endpoint in reversed(self._saved_endpoints()))
        of_preset = (shown for shown in known if find_preset(*_address(shown)) is preset)
        return next(of_preset, {})

    async def use(self, request: Request, body: models.ModelChoiceBody) -> Response:
        """Save an endpoint, its key and a model; with a chain alone, only the chain."""
        fallback = None if body.fallback is None else self._fill_secrets(body.fallback)
        if fallback is not None and body.model_fields_set == {"fallback"}:
            return await self._apply(request, {"fallback": fallback})
        if not body.preset or body.model is None:
            missing = "model" if body.preset else "preset"
            raise HttpRefusal(
                400, missing, Phrase("{missing} is missing", missing=missing), field=missing
            )
        choice = replace(self.to_choice(body, body.model, body.fast_model), fallback=fallback)
        return await self._apply(request, build_llm_part(choice, self._file.current.llm))

    async def _apply(self, request: Request, part: dict[str, Any]) -> Response:
        return await self._settings.apply_part(request, {"llm": part}, needs_tag=False)

    def to_choice(
        self, body: models.ModelEndpointBody, model: str = "", fast_model: str | None = None
    ) -> ModelChoice:
        """Return the preset with what was typed.

        Raises:
            HttpRefusal: there is no such preset, or a value cannot be.
        """
        preset = PRESETS.get(body.preset)
        if preset is None:
            known = ", ".join(PRESETS)
            raise HttpRefusal(
                400,
                "preset",
                Phrase(
                    "there is no preset {preset}; available: {known}",
                    preset=body.preset,
                    known=known,
                ),
                field="preset",
            )
        choice = ModelChoice(
            preset=preset,
            base_url=body.base_url,
            api_key="" if MASK_PATTERN.search(body.api_key) else body.api_key,
            model=model,
            fast_model=fast_model,
        )
        if preset.id == "own" and not choice.address:
            raise HttpRefusal(
                400, "base_url", Phrase("the address of the server is missing"), field="base_url"
            )
        _refuse_references(choice)
        return choice

    def _fill_secrets(self, fallback: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the items with the saved keys and proxies where they have masked ones or no key.

        An item that is new takes the key of its server.
        """
        saved = self._saved_endpoints()
        sources = _match_saved(fallback, saved)
        return [
            _fill_item(item, sources.get(index) or _find_server(item, saved))
            for index, item in enumerate(fallback)
        ]

    def _saved_endpoints(self) -> list[SavedEndpoint]:
        """Return the items of the chain, and last the endpoint in use."""
        llm = self._file.masked()["llm"]
        written = self._file.written(KEYS["llm", "fallback"])
        items = written if isinstance(written, list) else []  # it may be a reference
        chain = [
            SavedEndpoint(shown=shown, written=item)
            for shown, item in zip(llm["fallback"], items, strict=False)
        ]
        in_use = {name: self._file.written(KEYS["llm", name]) or "" for name in _SECRETS}
        return [*chain, SavedEndpoint(shown=llm, written=in_use)]

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
        message = Phrase(
            "references to environment variables belong in Settings; enter the value itself here"
        )
        raise HttpRefusal(400, "reference", message)


def _match_saved(
    fallback: list[dict[str, Any]], saved: list[SavedEndpoint]
) -> dict[int, SavedEndpoint]:
    """Return the saved endpoint of each item by its index, each for one item: that of the same
    server and model, else the next one of the same server.
    """
    matches: dict[int, SavedEndpoint] = {}
    unused = list(saved)
    for is_match in (_is_same_model, _is_same_server):
        for index, item in enumerate(fallback):
            match = next((one for one in unused if is_match(item, one.shown)), None)
            if match is not None and index not in matches:
                matches[index] = match
                unused.remove(match)
    return matches


def _find_server(item: dict[str, Any], saved: list[SavedEndpoint]) -> SavedEndpoint:
    """Return the saved endpoint of an item's server: the one in use before those of the chain."""
    of_server = (one for one in reversed(saved) if _is_same_server(item, one.shown))
    return next(of_server, NOTHING_SAVED)


def _is_same_model(item: dict[str, Any], shown: dict[str, Any]) -> bool:
    return item.get("model", "") == shown["model"] and _is_same_server(item, shown)


def _is_same_server(item: dict[str, Any], shown: dict[str, Any]) -> bool:
    """Tell whether an item has the address of a saved endpoint; what is masked in it must be of
    that one too.
    """
    return _address(item) == _address(shown) and all(
        item[name] == shown[name] for name in _SECRETS if _is_masked(item.get(name))
    )


def _address(item: dict[str, Any]) -> tuple[str, str]:
    return str(item.get("provider", "anthropic")), str(item.get("base_url", "")).rstrip("/")


def _is_masked(value: object) -> bool:
    return isinstance(value, str) and MASK_PATTERN.search(value) is not None


def _fill_item(item: dict[str, Any], source: SavedEndpoint) -> dict[str, Any]:
    """Return an item with the secrets of its saved endpoint; a masked one that is none of them
    stays, and is refused.
    """
    key, proxy = item.get("api_key", ""), item.get("proxy", "")
    filled = dict(item)
    if not key or _is_masked(key):
        filled["api_key"] = source.written.get("api_key", key)
    if _is_masked(proxy):
        filled["proxy"] = source.written.get("proxy", proxy)
    return filled


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


def _texts_json(text: AnyPhrase) -> dict[str, str]:
    return {"zh": text.text("zh"), "en": text.text("en")}


def _listed_json(listed: ListedModel) -> dict[str, Any]:
    window = {"context_window": listed.window} if listed.window else {}
    return {"id": listed.id, **window}


def _fault_json(fault: EndpointFault, lang: str, hide: LogRedactor) -> dict[str, str]:
    return {
        "code": fault.code,
        "message": hide(fault.text.text(lang)),
        "server_words": hide(fault.words),
    }


def _report_json(report: ModelReport, lang: str, hide: LogRedactor) -> dict[str, Any]:
    return {
        "checks": [
            {"id": check.id, "state": check.state, "text": hide(check.text.text(lang))}
            for check in report.checks
        ],
        "window": report.window.tokens if report.window else None,
        "window_source": report.window.source if report.window else "",
        "ok": report.is_usable,
        "server_words": hide(report.server_words),
    }
