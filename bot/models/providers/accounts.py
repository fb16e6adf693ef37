"""Accounts at providers: the models that are configured, in order, and the client of each."""

from dataclasses import dataclass

from bot.config.sections.llm import LlmConfig
from bot.errors import ConfigError
from bot.models.base import Blobs
from bot.models.catalog import context_window
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.offline import OfflineModel, RecallPassages
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.transport import timeouts_for

ProviderModel = AnthropicModel | OpenAIModel | OfflineModel


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDefaults:
    """Models of a provider for a configuration that names none."""

    model: str
    fast_model: str
    #: "": the provider's client knows it.
    base_url: str = ""


# As of 2026-11-20.
PROVIDERS = {
    "anthropic": ProviderDefaults(model="claude-sonnet-5-5", fast_model="claude-haiku-5-5"),
    "openai": ProviderDefaults(
        model="gpt-6.1-terra", fast_model="gpt-6-luna", base_url="https://api.openai.com/v1"
    ),
    "offline": ProviderDefaults(model="offline", fast_model="offline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccount:
    """Account at a provider, and the model to call there."""

    provider: str
    api_key: str = ""
    #: "": the provider's own, or the environment's.
    base_url: str = ""
    #: "": the environment's.
    proxy: str = ""
    #: "": the model that conversations choose.
    model: str = ""


def effective_provider(account: ProviderAccount) -> str:
    """Return the provider that will answer: offline without a key, unless a server of one's own is
    named.

    Raises:
        ConfigError: there is no such provider.
    """
    if account.provider not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise ConfigError(f'llm.provider is "{account.provider}"; it may be one of: {known}')
    own_server = account.provider == "openai" and account.base_url
    return account.provider if account.api_key or own_server else "offline"


def open_provider(
    account: ProviderAccount, *, blobs: Blobs, recall: RecallPassages
) -> ProviderModel:
    """Create the client of an account.

    It imports its SDK and connects on first use, or in `preload`.

    Raises:
        ConfigError: there is no such provider.
    """
    provider = effective_provider(account)
    base_url = account.base_url or PROVIDERS[provider].base_url
    limits = timeouts_for(base_url)
    if provider == "anthropic":
        return AnthropicModel(
            api_key=account.api_key,
            base_url=base_url,
            proxy=account.proxy,
            blobs=blobs,
            limits=limits,
        )
    if provider == "openai":
        return OpenAIModel(
            api_key=account.api_key,
            base_url=base_url,
            proxy=account.proxy,
            blobs=blobs,
            limits=limits,
            window=context_window(PROVIDERS[provider].model),
        )
    return OfflineModel(recall=recall)


def configured_models(llm: LlmConfig) -> tuple[ProviderAccount, ...]:
    """Return the models of the chain in order."""
    first = ProviderAccount(
        provider=llm.provider, api_key=llm.api_key, base_url=llm.base_url, proxy=llm.proxy
    )
    fallback = (
        ProviderAccount(
            provider=item.provider,
            api_key=item.api_key,
            base_url=item.base_url,
            proxy=item.proxy,
            model=item.model or PROVIDERS[item.provider].model,
        )
        for item in llm.fallback
    )
    return (first, *fallback)


def default_names(llm: LlmConfig, provider: str) -> tuple[str, str]:
    """Return the ids of the model for conversations and of the fast one."""
    defaults = PROVIDERS[provider]
    if provider == "offline":
        return defaults.model, defaults.fast_model
    # A server of one's own may not have the default fast model.
    own_model = llm.model if provider == "openai" and llm.base_url else ""
    return llm.model or defaults.model, llm.fast_model or own_model or defaults.fast_model
