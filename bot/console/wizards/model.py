"""The wizards of the model in use, and of one more behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from starlette.requests import Request

from bot.config.file import ConfigFile
from bot.console.administration.model_setup import ModelSetupRoutes
from bot.console.administration.models import (
    ModelChoiceBody,
    ModelEndpointBody,
    ModelTrialBody,
)
from bot.console.wizards.base import (
    WizardEnd,
    WizardField,
    WizardFinding,
    WizardForm,
    WizardInput,
    WizardKind,
    WizardLook,
    WizardOption,
    WizardReport,
)
from bot.models.setup.checks import CheckId
from bot.models.setup.listing import ListedModel
from bot.models.setup.presets import PRESETS, Preset
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, untranslated
from channels.web.requests import SMALL_BODY, request_language
from channels.web.validation import parse_body

# Faults with which no model can answer; a server with another one may have no list only.
BLOCKING_FAULTS = frozenset({"nothing_listens", "no_host", "tls", "key"})
OWN = "own"
CHECK_NAMES: dict[CheckId, Phrase] = {
    "address": Phrase("Address"),
    "key": Phrase("Key"),
    "answer": Phrase("Answer", context="of a model"),
    "streaming": Phrase("Streaming"),
    "tools": Phrase("Tools"),
    "sight": Phrase("Pictures"),
    "thinking": Phrase("Thinking"),
    "window": Phrase("Window"),
}
MODEL = WizardField(
    name="model",
    title=Phrase("Model"),
    form="found",
    help=Phrase("Choose one below, or type its name."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWizard:
    """Puts a model into use, or adds it to the chain behind the one in use."""

    action: ClassVar[str] = "config.write"
    max_body: ClassVar[int] = SMALL_BODY
    kinds: ClassVar[Sequence[str]] = tuple(PRESETS)

    file: ConfigFile
    setup: ModelSetupRoutes
    #: It becomes one of the chain.
    is_fallback: bool

    @property
    def name(self) -> str:
        return "fallback-model" if self.is_fallback else "model"

    async def form(self) -> WizardForm:
        """Return the kinds of servers, those first that answer on this machine."""
        found = {preset.id: preset.base_url for preset in await self.setup.find_local()}
        kinds = [self._kind(preset, found.get(preset.id, "")) for preset in PRESETS.values()]
        kinds.sort(key=lambda kind: not kind.is_found)
        return WizardForm(
            title=Phrase("Fallback model") if self.is_fallback else Phrase("A model"),
            about=NO_PHRASE if found else Phrase("No server was found on this machine."),
            choose=Phrase("Where does the model run?"),
            kinds=kinds,
            look=Phrase("Show its models"),
            test=Phrase("Test"),
            finish=Phrase("Add as fallback") if self.is_fallback else Phrase("Use this model"),
            finish_anyway=Phrase("Use it anyway"),
            result=Phrase("Live test"),
            untested=Phrase("Not tested yet. The test saves nothing."),
            testing=Phrase(
                "Testing… This takes up to 90 seconds; a local model may have to be loaded "
                "first, up to 5 minutes."
            ),
        )

    def _kind(self, preset: Preset, found: str) -> WizardKind:
        saved = self.setup.saved(preset)
        address = found or saved.get("base_url", "") or preset.base_url
        if found:
            note: AnyPhrase = Phrase("found on this machine")
        elif preset.is_local:
            note = NO_PHRASE  # its title says so
        elif preset.id == OWN:
            note = Phrase("any address")
        else:
            note = untranslated(_domain(preset.base_url or preset.key_page))
        return WizardKind(
            id=preset.id,
            title=preset.title,
            note=note,
            is_found=bool(found),
            link=preset.key_page,
            fields=(
                *_address_fields(preset, address),
                *_key_fields(preset, saved.get("api_key", "")),
                MODEL,
            ),
        )

    async def look(self, given: WizardInput, request: Request) -> WizardLook:
        """Return the models of the server."""
        endpoint = parse_body(ModelEndpointBody, _endpoint(given))
        listing, hide = await self.setup.ask(request, endpoint)
        options = [_option(model) for model in listing.models]
        if (fault := listing.fault) is None:
            return WizardLook(options=options)
        return WizardLook(
            options=options,
            fault=untranslated(hide(fault.text.text(request_language(request)))),
            field="key" if fault.code == "key" else "",
            said=hide(fault.words),
            goes_on=fault.code not in BLOCKING_FAULTS,
        )

    async def test(self, given: WizardInput, request: Request) -> WizardReport:
        """Try the model."""
        trial = parse_body(ModelTrialBody, {**_endpoint(given), "model": given.need(MODEL)})
        report, hide = await self.setup.check(request, trial)
        lang = request_language(request)
        findings = [
            WizardFinding(
                step=check.id,
                name=CHECK_NAMES[check.id],
                state=check.state,
                text=untranslated(hide(check.text.text(lang))),
            )
            for check in report.checks
        ]
        return WizardReport(findings=findings, ok=report.is_usable, said=hide(report.server_words))

    async def finish(self, given: WizardInput, request: Request) -> WizardEnd:
        """Save it."""
        endpoint, model = _endpoint(given), given.need(MODEL)
        if not self.is_fallback:
            await self.setup.use(request, parse_body(ModelChoiceBody, {**endpoint, "model": model}))
            return WizardEnd(text=Phrase("{model} answers now.", model=model), path="/c")
        preset = PRESETS[given.kind]
        item = {
            "provider": preset.provider,
            "base_url": self.setup.to_choice(parse_body(ModelEndpointBody, endpoint)).address,
            "api_key": endpoint["api_key"],
            "model": model,
        }
        chain = [*self.file.masked()["llm"]["fallback"], item]
        await self.setup.use(request, ModelChoiceBody(fallback=chain))
        return WizardEnd(text=Phrase("Saved. The order is in effect."), path="/settings/model")


def _address_fields(preset: Preset, address: str) -> Sequence[WizardField]:
    if preset.other_base_url:
        regions = (preset.base_url, preset.other_base_url)
        return (
            WizardField(
                name="address",
                title=Phrase("Region"),
                form="radio",
                value=address,
                options=[
                    WizardOption(value=region, title=untranslated(urlsplit(region).netloc))
                    for region in regions
                ],
            ),
        )
    if not (preset.is_local or preset.id == OWN):
        return ()
    example = Phrase("for example http://192.168.1.5:8000/v1")
    return (
        WizardField(
            name="address",
            title=Phrase("Address"),
            value=address,
            example=example if preset.id == OWN else NO_PHRASE,
        ),
    )


def _key_fields(preset: Preset, saved: str) -> Sequence[WizardField]:
    if preset.is_local:
        return ()
    return (
        WizardField(
            name="key",
            title=Phrase("Key") if preset.needs_key else Phrase("Key, if it needs one"),
            form="secret",
            required=preset.needs_key and not saved,
            example=Phrase("saved: {key}", key=saved) if saved else NO_PHRASE,
            help=Phrase("Leave it empty to use the saved key.") if saved else NO_PHRASE,
        ),
    )


def _endpoint(given: WizardInput) -> dict[str, Any]:
    return {
        "preset": given.kind,
        "base_url": given.get("address"),
        "api_key": given.get("key"),
    }


def _option(model: ListedModel) -> WizardOption:
    note = Phrase("{tokens:,} tokens", tokens=model.window) if model.window else NO_PHRASE
    return WizardOption(value=model.id, title=untranslated(model.id), note=note)


def _domain(address: str) -> str:
    return ".".join(urlsplit(address).netloc.split(".")[-2:])
