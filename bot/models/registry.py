"""Which provider's name stands for which wire, and the models it is asked for when none is named."""

from dataclasses import dataclass

from bot.errors import ConfigError
from bot.models.anthropic import Anthropic
from bot.models.base import Blobs
from bot.models.offline import Offline, Recall
from bot.models.openai import OpenAI
from bot.models.patience import Patience
from bot.models.prices import window

Wire = Anthropic | OpenAI | Offline


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """model: its current middle model, fast_model: its small one; base_url: "" where the wire knows it itself."""

    model: str
    fast_model: str
    base_url: str = ""


# As of 2026-11-20.
PROVIDERS = {
    "anthropic": Provider(model="claude-sonnet-5-5", fast_model="claude-haiku-5-5"),
    "openai": Provider(model="gpt-6.1-terra", fast_model="gpt-6-luna", base_url="https://api.openai.com/v1"),
    "offline": Provider(model="offline", fast_model="offline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Where to ask, and as whom. base_url, proxy: "" for the provider's own, and for the environment's."""

    provider: str
    api_key: str = ""
    base_url: str = ""
    proxy: str = ""


def effective_provider(account: Account) -> str:
    """The provider that will answer: offline without a key, unless a server of one's own is named.

    Raises:
        ConfigError: there is no such provider.
    """
    if account.provider not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise ConfigError(f'llm.provider is "{account.provider}"; it may be one of: {known}')
    own_server = account.provider == "openai" and account.base_url
    return account.provider if account.api_key or own_server else "offline"


def open_wire(account: Account, *, blobs: Blobs, recall: Recall, limits: Patience | None = None) -> Wire:
    """The wire to that account; it imports and connects when it is first used, or by its `preload`.

    Raises:
        ConfigError: there is no such provider.
    """
    provider = effective_provider(account)
    base_url = account.base_url or PROVIDERS[provider].base_url
    if provider == "anthropic":
        return Anthropic(api_key=account.api_key, base_url=base_url, proxy=account.proxy, blobs=blobs, limits=limits)
    if provider == "openai":
        return OpenAI(
            api_key=account.api_key,
            base_url=base_url,
            proxy=account.proxy,
            blobs=blobs,
            limits=limits,
            window=window(PROVIDERS[provider].model),
        )
    return Offline(recall=recall)
