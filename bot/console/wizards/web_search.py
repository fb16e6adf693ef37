"""The wizard of web search: a provider, its key, and a search that is tried with it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from starlette.requests import Request

from bot.config.file import ConfigFile
from bot.config.keys import KEYS
from bot.console.administration.settings import SettingsRoutes
from bot.console.wizards.base import (
    NO_ADDRESS,
    FindingState,
    WizardEnd,
    WizardField,
    WizardFinding,
    WizardForm,
    WizardInput,
    WizardKind,
    WizardReport,
    refuse,
    refuse_references,
)
from bot.tools.web.addresses import WebError, parse_url
from bot.tools.web.providers import ANSWER_SECONDS, ProviderName, create_provider
from bot.tools.web.search import SearchFailed, SearchQuery
from channels.phrases import NO_PHRASE, Phrase, untranslated
from channels.toolkit.http import HttpPool
from channels.web.requests import SMALL_BODY

TRIED_WORDS = "weather"
SHOWN_HITS = 3
OWN_SERVER: ProviderName = "searxng"
LIST_PATH = ("tools", "web", "providers")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPreset:
    """A search engine."""

    id: ProviderName
    title: Phrase
    about: Phrase = NO_PHRASE
    #: Where a key is made; "" for none.
    key_page: str = ""


# Source: the vendors' pages, as of 2026-11-29.
SEARCH_PRESETS = (
    SearchPreset(id="tavily", title=Phrase("Tavily"), key_page="https://app.tavily.com/home"),
    SearchPreset(
        id="brave",
        title=Phrase("Brave Search"),
        key_page="https://api-dashboard.search.brave.com/app/keys",
    ),
    SearchPreset(
        id="bocha",
        title=Phrase("Bocha"),
        about=Phrase("in China"),
        key_page="https://open.bochaai.com/api-keys",
    ),
    SearchPreset(id="exa", title=Phrase("Exa"), key_page="https://dashboard.exa.ai/api-keys"),
    SearchPreset(id=OWN_SERVER, title=Phrase("SearXNG"), about=Phrase("a server of your own")),
)
KEY = WizardField(name="api_key", title=Phrase("Key"), form="secret")
ADDRESS = WizardField(
    name="base_url",
    title=Phrase("Address"),
    example=untranslated("https://search.example.org"),
    help=Phrase("Its settings.yml must have “json” in search.formats."),
)
OTHER_ADDRESS = WizardField(
    name="base_url",
    title=Phrase("Address"),
    required=False,
    help=Phrase("Leave empty for the provider's own."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchWizard:
    """Puts a search provider before the others; another one of its name is replaced."""

    name: ClassVar[str] = "search"
    action: ClassVar[str] = "config.write"
    max_body: ClassVar[int] = SMALL_BODY
    kinds: ClassVar[tuple[str, ...]] = tuple(preset.id for preset in SEARCH_PRESETS)

    file: ConfigFile
    settings: SettingsRoutes
    #: Makes the connections of a test.
    create_pool: Callable[[], HttpPool] = lambda: HttpPool("", ANSWER_SECONDS)

    async def form(self) -> WizardForm:
        """Return the providers."""
        return WizardForm(
            title=Phrase("Set up web search"),
            about=Phrase(
                "This lets the model search the web. What it searches for goes to that service."
            ),
            choose=Phrase("Which search engine?"),
            kinds=tuple(self._kind(preset) for preset in SEARCH_PRESETS),
            test=Phrase("Test"),
            finish=Phrase("Use this search"),
            finish_anyway=Phrase("Use it anyway"),
            result=Phrase("Live test"),
            untested=Phrase("Not tested yet. The test saves nothing."),
            testing=Phrase("Searching…"),
        )

    def _kind(self, preset: SearchPreset) -> WizardKind:
        saved = self._saved(preset.id)
        fields = (ADDRESS,) if preset.id == OWN_SERVER else (self._key_field(saved), OTHER_ADDRESS)
        return WizardKind(
            id=preset.id,
            title=preset.title,
            note=Phrase("set up") if saved else preset.about,
            is_found=bool(saved),
            link=preset.key_page,
            fields=fields,
        )

    def _key_field(self, saved: dict[str, Any]) -> WizardField:
        if not saved.get("api_key"):
            return KEY
        return WizardField(
            name=KEY.name,
            title=KEY.title,
            form="secret",
            required=False,
            help=Phrase("Leave it empty to use the saved key."),
        )

    async def test(self, given: WizardInput, request: Request) -> WizardReport:
        """Search for a word."""
        item = self._item(given)
        pool = self.create_pool()
        # what the file has may be a reference, which only the loaded settings resolve
        key = self._resolve_key(item)
        provider = create_provider(
            cast(ProviderName, item["name"]), key, item.get("base_url", ""), pool
        )
        try:
            hits = await provider.search(SearchQuery(words=TRIED_WORDS, count=SHOWN_HITS))
        except SearchFailed as err:
            why = Phrase("The search did not work: {why}.", why=err.phrase)
            return WizardReport(findings=(_finding("failed", why),), ok=False)
        finally:
            await pool.close()
        if not hits:
            empty = Phrase("It answers, but found nothing for “{words}”.", words=TRIED_WORDS)
            return WizardReport(findings=(_finding("unknown", empty),), ok=True)
        found = Phrase(
            "It answers. For “{words}” it found: {titles}",
            words=TRIED_WORDS,
            titles="; ".join(" ".join(hit.title.split())[:80] for hit in hits),
        )
        return WizardReport(findings=(_finding("ok", found),), ok=True)

    async def finish(self, given: WizardInput, request: Request) -> WizardEnd:
        """Save the provider as the first one."""
        item = self._item(given)
        others = [one for one in self._written() if one.get("name") != item["name"]]
        part = {"tools": {"web": {"providers": [item, *others]}}}
        await self.settings.apply_part(request, part, needs_tag=False)
        title = next(preset.title for preset in SEARCH_PRESETS if preset.id == given.kind)
        return WizardEnd(
            text=Phrase("The model can now search with {provider}.", provider=title), path="/tools"
        )

    def _item(self, given: WizardInput) -> dict[str, Any]:
        """Return the item of the settings; a saved key stays with its address.

        Raises:
            HttpRefusal: a value is missing or cannot be.
        """
        refuse_references(given)
        address, key = given.get(ADDRESS.name), given.get(KEY.name)
        if given.kind == OWN_SERVER:
            given.need(ADDRESS)
        if address:
            try:
                parse_url(address)
            except WebError as err:
                raise refuse(ADDRESS.name, NO_ADDRESS) from err
        saved = self._saved(given.kind)
        is_same = saved and saved.get("base_url", "").rstrip("/") == address.rstrip("/")
        if not key and is_same:
            key = saved.get("api_key", "")
        if given.kind != OWN_SERVER and not key:
            given.need(KEY)
        item = {"name": given.kind, "api_key": key, "base_url": address}
        return {name: value for name, value in item.items() if value}

    def _resolve_key(self, item: dict[str, Any]) -> str:
        """Return the key to send: of what is saved the value in use, not what the file says."""
        if item == self._saved(item["name"]):
            in_use = self.file.current.tools.web.providers
            return next(one.api_key for one in in_use if one.name == item["name"])
        return str(item.get("api_key", ""))

    def _written(self) -> list[dict[str, Any]]:
        """Return the providers as the file has them."""
        written = self.file.written(KEYS[LIST_PATH])
        return list(written) if isinstance(written, list) else []

    def _saved(self, name: str) -> dict[str, Any]:
        return next((one for one in self._written() if one.get("name") == name), {})


def _finding(state: FindingState, text: Phrase) -> WizardFinding:
    return WizardFinding(step="search", name=Phrase("A search"), state=state, text=text)
