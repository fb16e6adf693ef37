"""The section `memory`."""

from typing import Annotated, Literal

from pydantic import Field

from channels.toolkit.settings import (
    AT_NEXT_TURN,
    ConfigSection,
    Secret,
    Texts,
    Unit,
    Url,
    ValueForm,
)

ClockTime = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), ValueForm("clock")]


class EmbeddingConfig(ConfigSection):
    """The embedding model."""

    provider: Literal["openai", "local", "none"] = Field(
        "openai",
        title="Vector provider",
        description="openai: any compatible endpoint; local: the model on this machine; none: "
        "words only.",
    )
    base_url: Url = Field(
        "",
        title="Vector endpoint",
        description="Endpoint for openai; empty means the provider's own.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    model: str = Field(
        "",
        title="Embedding model",
        description="Embedding model id; empty means a small model from the provider.",
        examples=["bge-m3"],
    )
    api_key: Secret = Field(
        "",
        title="Vector key",
        description="The endpoint's key; empty for a server that needs none.",
        examples=["${OPENAI_API_KEY}"],
    )


class MemoryConfig(ConfigSection):
    """Long-term memory."""

    extract: bool = Field(
        True, title="Extraction", description="Store lasting facts after each turn."
    )
    categories: Texts = Field(
        ("user_preference", "project_context", "skill", "fact"),
        title="Kinds of facts",
        description="Which kinds of facts are stored.",
        examples=[["user_preference", "fact"]],
    )
    min_importance: int = Field(
        5,
        ge=1,
        le=10,
        title="Least importance",
        description="Facts of lower importance are not stored.",
        examples=[7],
    )
    similarity: float = Field(
        0.85,
        ge=0,
        le=1,
        title="Similarity",
        description="Two memories at least this similar count as one.",
        examples=[0.9],
    )
    dream_at: ClockTime = Field(
        "03:30",
        title="Nightly tidying",
        description="Time at which memory is tidied each night, HH:MM.",
        examples=["04:15"],
    )
    recall_limit: Annotated[int, AT_NEXT_TURN, Unit("passages")] = Field(
        5,
        ge=0,
        le=50,
        title="Recalled passages",
        description="Maximum passages recalled for one message.",
        examples=[8],
    )
    recall_timeout_ms: Annotated[int, AT_NEXT_TURN, Unit("ms")] = Field(
        500,
        ge=1,
        le=60000,
        title="Recall time limit",
        description="Maximum milliseconds that an answer waits for recall.",
        examples=[800],
    )
    embedding: EmbeddingConfig | None = Field(
        None,
        title="Recall by vectors",
        description="Recall by vectors in addition to words; null means the model on this machine "
        "if the extra embeddings is installed, otherwise words only.",
    )
