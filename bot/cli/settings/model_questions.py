"""Questions at the terminal, and those of `mnema init` about a model: server, key, the model, and
its test.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import typer
from pydantic import TypeAdapter, ValidationError

from bot.cli.common import printable
from bot.config.file import ConfigFile
from bot.config.messages import ConfigRejected
from bot.config.sections.llm import LlmConfig
from bot.models.providers.accounts import (
    PROVIDERS,
    ProviderAccount,
    configured_models,
    effective_provider,
)
from bot.models.setup.checks import STATE_MARKS, ModelReport, check_model
from bot.models.setup.listing import EndpointFault, ModelListing, find_local_servers, list_models
from bot.models.setup.presets import (
    LOCAL_PRESETS,
    PRESETS,
    ModelChoice,
    Preset,
    build_llm_part,
    find_preset,
    is_same_endpoint,
)
from bot.texts import SERVER_WORDS
from channels.phrases import AnyPhrase, Phrase, show
from channels.toolkit.settings import Url

MAX_SHOWN_MODELS = 20
NO_MODEL = "0"  # the number that is typed for it
NO_SERVER = LlmConfig(provider="offline")
_ADDRESS = TypeAdapter(Url)
_YES, _NO = ("y", "yes", "是", "好"), ("n", "no", "否", "不")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """Asks on stderr, so that what a command prints stays apart; the end of the input is like
    Ctrl-C.
    """

    #: "zh" or "en".
    lang: str

    def text(self, phrase: AnyPhrase) -> str:
        """Return the text in the person's language."""
        return phrase.text(self.lang)

    def say(self, line: AnyPhrase | str) -> None:
        """Print a line."""
        typer.echo(show(line, self.lang), err=True)

    def ask(self, question: AnyPhrase, *, is_secret: bool = False) -> str:
        """Return what is typed, "" for nothing; a secret is not shown at a terminal."""
        return self._ask(self.text(question), is_hidden=is_secret and sys.stdin.isatty())

    def _ask(self, question: str, *, is_hidden: bool = False) -> str:
        answer: str = typer.prompt(
            question, default="", hide_input=is_hidden, show_default=False, err=True
        )
        return answer.strip()

    def confirm(self, question: AnyPhrase, *, default: bool) -> bool:
        """Return the answer to a question of yes or no."""
        hint = "[Y/n]" if default else "[y/N]"
        answer = self._ask(f"{self.text(question)} {hint}").lower()
        return answer in _YES if answer in (*_YES, *_NO) else default

    def choose(self, question: AnyPhrase, names: Sequence[str], *, default: str = "") -> str:
        """Return the name of a number, or what else is typed; the default for nothing."""
        answer = self.ask(question)
        if answer.isdecimal() and 0 < int(answer) <= len(names):
            return names[int(answer) - 1]
        return answer or default


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestions:
    """Asks for a model until one is usable, or the person goes on without."""

    dialog: Dialog
    file: ConfigFile
    environ: Mapping[str, str]
    #: Servers that are looked for on this machine.
    local: tuple[Preset, ...] = LOCAL_PRESETS

    def ask(self) -> dict[str, Any] | None:
        """Return the value of `llm` in a partial config.json; None to leave what is set."""
        llm = self.file.current.llm
        choice = self._ask_until_usable(llm)
        if choice is None:
            return None
        fallback = list(self._ask_fallback())
        return build_llm_part(replace(choice, fallback=fallback or None), llm)

    def _ask_fallback(self) -> list[dict[str, Any]]:
        """Return further models, in the form of `llm.fallback`; none leaves what is set."""
        items: list[dict[str, Any]] = []
        while self.dialog.confirm(
            Phrase("Set up another model to answer when this one is unavailable?"),
            default=False,
        ):
            choice = self._ask_until_usable(NO_SERVER)
            if choice is None:
                break
            part = build_llm_part(choice, NO_SERVER)
            items.append(
                {name: part[name] for name in ("provider", "base_url", "model", "api_key")}
            )
        return items

    def _ask_until_usable(self, llm: LlmConfig) -> ModelChoice | None:
        """Return a model that passed its test, or that the person takes all the same."""
        while True:
            try:
                choice = self._ask_once(llm)
                if choice is None or self._test(choice, llm):
                    return choice
            except ConfigRejected as err:  # an address that is none
                self.dialog.say(err.phrase)
                continue
            if self.dialog.confirm(Phrase("Use this model anyway?"), default=False):
                return choice

    def _ask_once(self, llm: LlmConfig) -> ModelChoice | None:
        while True:
            preset = self._ask_preset(llm)
            if preset is None:
                return None
            choice = ModelChoice(preset=preset, base_url=self._ask_address(preset, llm))
            choice = replace(choice, api_key=self._ask_key(choice, llm))
            account = self._account(choice, llm)
            if effective_provider(account) == "offline":
                self.dialog.say(Phrase("Without a key, there is no model yet."))
                return None
            listing = asyncio.run(list_models(account))
            if listing.fault is None or not self._wants_other_answers(listing.fault):
                return replace(choice, model=self._ask_model(choice, llm, listing))

    def _wants_other_answers(self, fault: EndpointFault) -> bool:
        """Say why there is no list of models; return whether to ask for the server again."""
        self.dialog.say(f"✗ {self.dialog.text(fault.text)}")
        if fault.words:
            self._say_words(fault.words)
        return self.dialog.confirm(Phrase("Enter it again?"), default=True)

    def _say_words(self, words: str) -> None:
        self.dialog.say(f"    {self.dialog.text(SERVER_WORDS.fill(words=printable(words)))}")

    def _ask_preset(self, llm: LlmConfig) -> Preset | None:
        """Return the kind of server; None to leave what is set, or for no model."""
        found = {preset.id for preset in asyncio.run(find_local_servers(self.local))}
        self.dialog.say(Phrase("Where is the model?"))
        for number, preset in enumerate(PRESETS.values(), 1):
            here = self.dialog.text(Phrase(", it is running")) if preset.id in found else ""
            self.dialog.say(f"  {number:2}  {self.dialog.text(preset.title)}{here}")
        is_set = _is_set(llm)
        names: dict[str, Preset | None] = dict(PRESETS)
        if not is_set:
            names[NO_MODEL] = None
            self.dialog.say(Phrase("  {no_model:>2}  no model yet", no_model=NO_MODEL))
        default = "" if is_set or not found else next(id for id in PRESETS if id in found)
        hint = self._preset_hint(llm, default, is_set=is_set)
        while True:
            given = self.dialog.choose(
                Phrase("Number or name ({hint})", hint=hint), list(PRESETS), default=default
            )
            if not given or given in names:
                return names.get(given)
            self.dialog.say(Phrase("There is no {given}.", given=given))

    def _preset_hint(self, llm: LlmConfig, default: str, *, is_set: bool) -> str:
        if is_set:
            preset = find_preset(llm.provider, llm.base_url)
            name = f"{preset.id} {llm.model}".strip() if preset is not None else llm.provider
            return self.dialog.text(Phrase("empty: keep {name}", name=name))
        if default:
            return self.dialog.text(Phrase("empty: {default}", default=default))
        return self.dialog.text(Phrase("empty: no model yet"))

    def _ask_address(self, preset: Preset, llm: LlmConfig) -> str:
        """Return the address that is typed, or ""."""
        is_set = find_preset(llm.provider, llm.base_url) == preset
        known = llm.base_url if is_set and llm.base_url else preset.base_url
        regions: tuple[str, ...] = ()
        question = Phrase("Address, such as http://10.0.0.5:8000/v1")
        if preset.other_base_url:
            regions = (preset.base_url, preset.other_base_url)
            listed = "  ".join(f"{number} {url}" for number, url in enumerate(regions, 1))
            question = Phrase("Address: {listed}", listed=listed)
        elif preset.id != "own" and not preset.is_local:
            return known
        if known:
            question = Phrase("{question} (empty: {known})", question=question, known=known)
        while True:
            typed = self.dialog.choose(question, regions, default=known)
            if typed and _is_address(typed):
                return typed
            if typed:
                self.dialog.say(Phrase("{typed} is not an address.", typed=typed))

    def _ask_key(self, choice: ModelChoice, llm: LlmConfig) -> str:
        """Return the key, or a reference to the variable that holds it; "" to keep what is set, or
        for none.
        """
        preset = choice.preset
        if preset.is_local:
            return ""
        keeps_key = is_same_endpoint(choice, llm) and bool(llm.api_key)
        from_environment = (
            bool(preset.key_variable) and preset.key_variable in self.environ and not keeps_key
        )
        hint = self.dialog.text(Phrase("empty: no key", context="no key"))
        if keeps_key:
            hint = self.dialog.text(Phrase("leave empty to keep the current value"))
        elif from_environment:
            hint = self.dialog.text(
                Phrase(
                    "empty: use {key_variable} from the environment",
                    key_variable=preset.key_variable,
                ),
            )
        if preset.key_page and not keeps_key:
            self.dialog.say(Phrase("Create a key at {key_page}", key_page=preset.key_page))
        typed = self.dialog.ask(Phrase("Key (not shown; {hint})", hint=hint), is_secret=True)
        return typed or (f"${{{preset.key_variable}}}" if from_environment else "")

    def _account(self, choice: ModelChoice, llm: LlmConfig) -> ProviderAccount:
        """Return the account of a choice, as it would be in use."""
        part = build_llm_part(choice, llm)
        return configured_models(self.file.preview({"llm": part}).llm)[0]

    def _ask_model(self, choice: ModelChoice, llm: LlmConfig, listing: ModelListing) -> str:
        names = [listed.id for listed in listing.models]
        for number, listed in enumerate(listing.models[:MAX_SHOWN_MODELS], 1):
            window = f"  ({listed.window:,} tokens)" if listed.window else ""
            line = f"  {number:2}  {listed.id}{window}"
            self.dialog.say(line)
        if len(names) > MAX_SHOWN_MODELS:
            more = len(names) - MAX_SHOWN_MODELS
            self.dialog.say(Phrase("  And {more} more; you can type a name.", more=more))
        default = self._default_model(choice, llm, names)
        hint = self.dialog.text(Phrase(" (empty: {default})", default=default)) if default else ""
        while True:
            model = self.dialog.choose(
                Phrase("Number or name of the model{hint}", hint=hint),
                names,
                default=default,
            )
            if model:
                return model

    def _default_model(self, choice: ModelChoice, llm: LlmConfig, names: list[str]) -> str:
        if is_same_endpoint(choice, llm) and llm.model:
            return llm.model
        if not choice.address:
            return PROVIDERS[choice.preset.provider].model
        return names[0] if names else ""

    def _test(self, choice: ModelChoice, llm: LlmConfig) -> bool:
        """Test a model and print what was found; returns whether it is usable."""
        self.dialog.say(Phrase("Testing {model} …", model=choice.model))
        report = asyncio.run(check_model(self._account(choice, llm), choice.model))
        self._print(report)
        return report.is_usable

    def _print(self, report: ModelReport) -> None:
        for check in report.checks:
            mark = STATE_MARKS[check.state]
            self.dialog.say(f"  {mark} {self.dialog.text(check.text)}")
        if report.server_words:
            self._say_words(report.server_words)


def _is_address(text: str) -> bool:
    try:
        _ADDRESS.validate_python(text)
    except ValidationError:
        return False
    return True


def _is_set(llm: LlmConfig) -> bool:
    """Tell whether a model is in use that is not the offline one."""
    return effective_provider(configured_models(llm)[0]) != "offline"
