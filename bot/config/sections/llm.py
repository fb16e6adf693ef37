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
        "anthropic", title="Provider", description="The API through which this model is reached."
    )
    model: str = Field(
        "", title="Model", description="Model id; empty means the provider's default."
    )
    api_key: Secret = Field("", title="Key", description="This model's key.")
    base_url: Url = Field(
        "", title="Endpoint", description="This model's endpoint; empty means the provider's own."
    )
    proxy: SecretUrl = Field(
        "", title="Proxy", description="HTTP proxy for this model; empty means none."
    )


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
        description="Model id; empty means the provider's current mid-size model.",
        examples=["gpt-5"],
    )
    fast_model: str = Field(
        "",
        title="Small model",
        description="Model for summaries; empty means the provider's current small model.",
        examples=["gpt-5-mini"],
    )
    api_key: Secret = Field(
        "",
        title="Model key",
        description="Without it, the key in ANTHROPIC_API_KEY or OPENAI_API_KEY is used; with no "
        "key at all, offline.",
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
        description="How many tokens the model can read; 0 means found out automatically.",
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
            description="Other models, tried in order when this one is unavailable.",
            examples=[[{"provider": "openai", "model": "gpt-5", "api_key": "${OPENAI_API_KEY}"}]],
        )
    )
    background: Literal["parallel", "idle", "off"] = Field(
        "parallel",
        title="Background calls",
        description="When a model writes summaries and facts. parallel: beside replies; idle: "
        "while no reply is under way; off: never.",
        examples=["idle"],
    )
    tell_spare: bool = Field(
        True,
        title="Name the fallback",
        description="Say under an answer when a `fallback` model gave it.",
    )
