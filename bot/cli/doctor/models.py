"""Doctor checks of the models: whether they answer, and what became of their work."""

import asyncio
import os
from contextlib import suppress

from bot.cli.doctor.channels import DoctorCheck, failed, passed
from bot.config.extras import find_missing_model, install_command
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.keys import KEYS, REFERENCE_PATTERN
from bot.config.loader import KEY_VARIABLES
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.memory.outcome_texts import describe_outcomes
from bot.models.providers.accounts import configured_models, default_names, effective_provider
from bot.models.setup.checks import STATE_MARKS, ModelReport, check_model
from bot.runtime.store_access import (
    call_running_bot,
    open_store_for_command,
    store_exists,
)
from channels.phrases import NO_PHRASE, Phrase, join_phrases, untranslated
from memory.store.errors import (
    StoreError,
)

MAX_FAILED_SHARE = 0.5  # of summaries and facts; with more, something is wrong


async def check_embedding_model(config: Config) -> list[DoctorCheck]:
    """Check the embedding model; without one, say how to get one."""
    from bot.models.embedding.embedders import check_embedding, chosen_embedding

    name, configured = "embedding", config.memory.embedding
    chosen = chosen_embedding(configured)
    if chosen is None:
        hint = NO_PHRASE
        if configured is None and find_missing_model() is None:
            hint = Phrase(
                "To recall by meaning as well, with a model on this machine: {command}",
                command=install_command("embeddings"),
            )
        return [passed(name, Phrase("Recall works by words only."), hint)]
    found = await check_embedding(chosen)
    hint = (
        NO_PHRASE
        if found.ok
        else Phrase(
            "Recall works by words only; if that is what you want, set memory.embedding.provider "
            "to none."
        )
    )
    return [DoctorCheck(name=name, ok=found.ok, message=found.message, hint=hint)]


def _check_offline(file: ConfigFile) -> DoctorCheck:
    """Say why the offline model answers; a variable that the settings name and nobody has set is a
    mistake.
    """
    written = file.written(KEYS["llm", "api_key"])
    # the example names a provider's
    is_own = isinstance(written, str) and written not in KEY_VARIABLES.values()
    names = REFERENCE_PATTERN.findall(written) if is_own else []
    if missing := [name for name in names if name not in os.environ]:
        message = Phrase(
            "The offline model answers: llm.api_key reads the environment variable {missing}, "
            "which is not set.",
            missing=missing[0],
        )
        return failed(
            "model",
            message,
            Phrase("Set it where you start mnema, or write the key into config.json."),
        )
    hint = (
        NO_PHRASE
        if file.current.llm.provider == "offline"
        else Phrase("Set llm.api_key, or the environment variable that it reads.")
    )
    return passed("model", Phrase("There is no key, so the offline model answers."), hint)


async def check_models(file: ConfigFile) -> list[DoctorCheck]:
    """Test each model of the chain as the set-up does."""
    llm = file.current.llm
    accounts = configured_models(llm)
    provider = effective_provider(accounts[0])
    if provider == "offline":
        return [_check_offline(file)]
    models = [default_names(llm, provider)[0], *(account.model for account in accounts[1:])]
    reports = await asyncio.gather(*map(check_model, accounts, models))
    names = ["model", *(f"llm.fallback[{at}]" for at in range(len(llm.fallback)))]
    return [
        _describe_model(name, f"{account.provider} {model}", account.base_url, report)
        for name, account, model, report in zip(names, accounts, models, reports, strict=True)
    ]


def _describe_model(name: str, model: str, base_url: str, report: ModelReport) -> DoctorCheck:
    """Say what a model takes, or why it is of no use."""
    if not report.is_usable:
        return failed(name, _describe_failure(model, base_url, report))
    words = report.server_words
    tools, sight, streaming = (
        STATE_MARKS[report.state(id)] for id in ("tools", "sight", "streaming")
    )
    thinking = STATE_MARKS[report.state("thinking")]
    if report.thinks_in_tags:
        thinking += " <think>"
    message = Phrase(
        "{model} answers: tools {tools}, vision {sight}, streaming {streaming}, thinking "
        "{thinking}.",
        model=model,
        tools=tools,
        sight=sight,
        streaming=streaming,
        thinking=thinking,
    )
    if report.state("tools") != "no":
        return passed(name, message)
    hint = Phrase(
        "The server rejects tools ({words}): choose a model that supports tools, or enable them "
        "on the server.",
        words=words,
    )
    return passed(name, message, hint)


def _describe_failure(model: str, base_url: str, report: ModelReport) -> Phrase:
    """Say why a model is of no use: its key is refused, or it does not answer."""
    check = next(check for check in report.checks if check.state == "failed")
    where = Phrase(" at {url}", url=base_url) if base_url else NO_PHRASE
    what = NO_PHRASE if check.id == "key" else Phrase(" does not answer")
    words = f" ({report.server_words})" if report.server_words else ""
    return Phrase(
        "{model}{where}{what}: {why}{words}",
        model=model,
        where=where,
        what=what,
        why=check.text,
        words=words,
    )


async def check_model_health(home: HomeFolder) -> list[DoctorCheck]:
    """Return what the running bot thinks of its models: its key and its connections may be other
    ones.
    """
    if not home.address():
        return []
    try:
        states = (await call_running_bot(home, "GET", "/api/status"))["models"]
    except MnemaError:
        return []  # the check of the channels reports it
    name, hint = (
        "model health",
        Phrase("The next message tries again; “Try now” under Health on the page does so at once."),
    )
    down = [state for state in states if not state["up"]]
    if not down:
        return [passed(name, Phrase("The running bot has no trouble with its models."))]
    return [
        failed(
            name,
            Phrase(
                "The running bot gets no answer from {model}: {why}.",
                model=state["name"],
                why=state["why"],
            ),
            hint,
        )
        for state in down
    ]


async def check_background(home: HomeFolder) -> list[DoctorCheck]:
    """Say how many of the newest summaries are extracts, how often facts failed, and the newest
    errors of models.
    """
    checks: list[DoctorCheck] = []
    with suppress(StoreError, MnemaError):  # the check of the database reports it
        if store_exists(home):
            async with open_store_for_command(home) as opened:
                outcomes = await opened.store.outcomes.newest()
            digests, failed_turns = sum(outcomes.digests.values()), sum(outcomes.failed.values())
            is_ok = (
                digests <= outcomes.folds * MAX_FAILED_SHARE
                and failed_turns <= outcomes.extractions * MAX_FAILED_SHARE
            )
            if lines := describe_outcomes(outcomes):
                message = Phrase("{lines}.", lines=join_phrases(lines, Phrase("; ")))
                checks.append(DoctorCheck(name="summaries and facts", ok=is_ok, message=message))
    with suppress(MnemaError):  # the check of the channels reports it
        if home.address():
            known = (await call_running_bot(home, "GET", "/api/v1/health/background"))["models"]
            words = [f"{model['name']}: {model['error']}" for model in known if model["error"]]
            checks += [passed("newest error", _end_sentence(one)) for one in words]
    return checks


def _end_sentence(text: str) -> Phrase:
    """Put a full stop at the end of a sentence that has none."""
    has_end = text.endswith((".", "。", "!", "?"))
    return untranslated(text) if has_end else Phrase("{sentence}.", sentence=text)
