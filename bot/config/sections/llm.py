"""The section `llm`."""

from typing import Annotated, Literal

from pydantic import Field

from channels.toolkit.settings import (
    ConfigSection,
    PhraseContext,
    Secret,
    SecretUrl,
    Unit,
    Url,
    ValueForm,
)

Provider = Literal["anthropic", "openai", "offline"]


class FallbackConfig(ConfigSection):
    """A further model, used when the ones before it are unavailable."""

    provider: Provider = Field(
        "anthropic", title="Provider", description="The API that this model is reached by."
    )
    model: str = Field(
        "", title="Model", description="Model id; empty means the provider's default."
    )
    api_key: Secret = Field("", title="Key", description="Its key.")
    base_url: Url = Field(
        "", title="Endpoint", description="Its endpoint; empty means the provider's own."
    )
    proxy: SecretUrl = Field("", title="Proxy", description="HTTP proxy for it; empty means none.")


class LlmConfig(ConfigSection):
    """The language model."""

    provider: Annotated[Provider, PhraseContext("the model that answers")] = Field(
        "anthropic",
        title="Provider",
        description="anthropic, openai (any compatible endpoint) or offline.",
    )
    model: str = Field(
        "",
        title="Model",
        description="Model id; empty means the provider's current middle model.",
        examples=["gpt-5"],
    )
    fast_model: str = Field(
        "",
        title="Small model",
        description="The model for summaries; empty means the provider's current small model.",
        examples=["gpt-5-mini"],
    )
    api_key: Secret = Field(
        "",
        title="Model key",
        description="Without it, the key in ANTHROPIC_API_KEY or OPENAI_API_KEY; without "
        "any, offline.",
        examples=["${MY_KEY}"],
        json_schema_extra={"reference": "${ANTHROPIC_API_KEY}"},
    )
    base_url: Annotated[Url, PhraseContext("the model that answers")] = Field(
        "",
        title="Endpoint",
        description="Endpoint; empty means the provider's own.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    context_window: Annotated[int, Unit("tokens")] = Field(
        0,
        ge=0,
        le=100000000,
        title="Context window",
        description="What the model can read, in tokens; 0 means learnt.",
        examples=[128000],
    )
    max_output_tokens: Annotated[int, Unit("tokens")] = Field(
        4096,
        ge=16,
        le=1000000,
        title="Longest answer",
        description="Maximum tokens of one answer.",
        examples=[8192],
    )
    proxy: SecretUrl = Field(
        "",
        title="Proxy for the model",
        description="HTTP proxy for model calls; empty means none.",
        examples=["http://127.0.0.1:7890"],
    )
    fallback: Annotated[tuple[FallbackConfig, ...], Field(strict=False), ValueForm("fallbacks")] = (
        Field(
            (),
            title="Fallback models",
            description="Further models, tried in order when this one is unavailable.",
            examples=[[{"provider": "openai", "model": "gpt-5", "api_key": "${OPENAI_API_KEY}"}]],
        )
    )
    background: Literal["parallel", "idle", "off"] = Field(
        "parallel",
        title="Background calls",
        description="When a model writes summaries and facts: beside replies, while none "
        "is under way, or never.",
        examples=["idle"],
    )
    tell_spare: bool = Field(
        True,
        title="Name the fallback",
        description="Say under an answer when a model of `fallback` gave it.",
    )
