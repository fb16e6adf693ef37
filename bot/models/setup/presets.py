"""Presets: the servers of models that people use, as data, and the settings that a choice of one
becomes.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from bot.config.sections.llm import LlmConfig
from channels.phrases import Phrase

_CALL_PATH = "/chat/completions"  # what people copy from a vendor's page along with the address


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One kind of server."""

    id: str
    title: Phrase
    provider: Literal["anthropic", "openai"] = "openai"
    #: "": the provider's own, or a person names it (`own`).
    base_url: str = ""
    #: Of the same vendor in another region, with keys of its own; "" for none.
    other_base_url: str = ""
    #: Environment variable that holds its key by convention; "" for a server that needs none.
    key_variable: str = ""
    #: Where a key is made.
    key_page: str = ""
    #: Port on this machine where it listens by default; 0 for a server elsewhere.
    port: int = 0
    #: Value of `llm.background`: "idle" for a server that answers one request at a time.
    background: Literal["parallel", "idle"] = "parallel"
    #: It wants the thinking of the running turn's calls back.
    wants_thinking: bool = False
    #: How the window is set on its side, in words to type; "" where it is the vendor's matter.
    set_window: str = ""

    @property
    def needs_key(self) -> bool:
        return bool(self.key_variable)

    @property
    def is_local(self) -> bool:
        return bool(self.port)


# Source: the vendors' API pages, as of 2026-11-28.
PRESETS: Mapping[str, Preset] = {
    preset.id: preset
    for preset in (
        Preset(
            id="anthropic",
            title=Phrase("Anthropic (Claude)"),
            provider="anthropic",
            key_variable="ANTHROPIC_API_KEY",
            key_page="https://platform.claude.com/settings/keys",
        ),
        Preset(
            id="openai",
            title=Phrase("OpenAI (GPT)"),
            key_variable="OPENAI_API_KEY",
            key_page="https://platform.openai.com/api-keys",
        ),
        Preset(
            id="deepseek",
            title=Phrase("DeepSeek"),
            base_url="https://api.deepseek.com/v1",
            key_variable="DEEPSEEK_API_KEY",
            key_page="https://platform.deepseek.com/api_keys",
            # Source: https://api-docs.deepseek.com/guides/thinking_mode#tool-calls
            wants_thinking=True,
        ),
        Preset(
            id="qwen",
            title=Phrase("Qwen (Alibaba Cloud)"),
            base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
            other_base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            key_variable="DASHSCOPE_API_KEY",
            key_page="https://bailian.console.aliyun.com/?tab=model#/api-key",
        ),
        Preset(
            id="kimi",
            title=Phrase("Kimi (Moonshot)"),
            base_url="https://api.moonshot.cn/v1",
            other_base_url="https://api.moonshot.ai/v1",
            key_variable="MOONSHOT_API_KEY",
            key_page="https://platform.moonshot.cn/console/api-keys",
        ),
        Preset(
            id="glm",
            title=Phrase("GLM (Z.ai)"),
            base_url="https://open.bigmodel.cn/api/paas/v4",
            other_base_url="https://api.z.ai/api/paas/v4",
            key_variable="ZAI_API_KEY",
            key_page="https://open.bigmodel.cn/usercenter/apikeys",
        ),
        Preset(
            id="minimax",
            title=Phrase("MiniMax"),
            base_url="https://api.minimaxi.com/v1",
            other_base_url="https://api.minimax.io/v1",
            key_variable="MINIMAX_API_KEY",
            key_page="https://platform.minimaxi.com/user-center/basic-information/interface-key",
        ),
        Preset(
            id="openrouter",
            title=Phrase("OpenRouter"),
            base_url="https://openrouter.ai/api/v1",
            key_variable="OPENROUTER_API_KEY",
            key_page="https://openrouter.ai/settings/keys",
        ),
        Preset(
            id="siliconflow",
            title=Phrase("SiliconFlow"),
            base_url="https://api.siliconflow.cn/v1",
            other_base_url="https://api.siliconflow.com/v1",
            key_variable="SILICONFLOW_API_KEY",
            key_page="https://cloud.siliconflow.cn/account/ak",
        ),
        Preset(
            id="ollama",
            title=Phrase("Ollama (this machine)"),
            base_url="http://127.0.0.1:11434/v1",
            port=11434,
            background="idle",
            set_window="OLLAMA_CONTEXT_LENGTH=16384 ollama serve",
        ),
        Preset(
            id="lmstudio",
            title=Phrase("LM Studio (this machine)"),
            base_url="http://127.0.0.1:1234/v1",
            port=1234,
            background="idle",
            set_window="lms load MODEL --context-length 16384",
        ),
        Preset(
            id="llamacpp",
            title=Phrase("llama.cpp (this machine)"),
            base_url="http://127.0.0.1:8080/v1",
            port=8080,
            background="idle",
            set_window="llama-server -m MODEL.gguf --jinja --ctx-size 16384",
        ),
        Preset(
            id="vllm",
            title=Phrase("vLLM (this machine)"),
            base_url="http://127.0.0.1:8000/v1",
            port=8000,
            set_window=(
                "vllm serve MODEL --max-model-len 16384 --enable-auto-tool-choice "
                "--tool-call-parser hermes"
            ),
        ),
        Preset(id="own", title=Phrase("Another OpenAI-compatible server")),
    )
}
LOCAL_PRESETS = tuple(preset for preset in PRESETS.values() if preset.is_local)
# Hosts that want thinking back.
THINKING_HOSTS = frozenset(
    urlsplit(preset.base_url).hostname for preset in PRESETS.values() if preset.wants_thinking
)


def find_preset(provider: str, base_url: str) -> Preset | None:
    """Return the preset of a configured endpoint; `own` for another address, None for no server."""
    address = base_url.rstrip("/")
    if provider not in ("anthropic", "openai"):
        return None
    if not address:
        return PRESETS[provider]
    for preset in PRESETS.values():
        if preset.provider == provider and address in (preset.base_url, preset.other_base_url):
            return preset
    return PRESETS["own"] if provider == "openai" else PRESETS["anthropic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A preset with the values that a person typed."""

    preset: Preset
    #: "": the preset's.
    base_url: str = ""
    #: "": the one in use, if the endpoint is the one in use.
    api_key: str = field(default="", repr=False)
    model: str = ""
    #: None: as it is, or the provider's default for another endpoint.
    fast_model: str | None = None
    #: Items as in `llm.fallback`; None leaves them.
    fallback: Sequence[dict[str, Any]] | None = None

    @property
    def address(self) -> str:
        """The value of `llm.base_url`."""
        typed = self.base_url.strip().rstrip("/").removesuffix(_CALL_PATH)
        return typed or self.preset.base_url


def is_same_endpoint(choice: ModelChoice, llm: LlmConfig) -> bool:
    """Tell whether a choice is of the endpoint in use: only then the key in use may be sent."""
    return (choice.preset.provider, choice.address) == (llm.provider, llm.base_url.rstrip("/"))


def build_llm_part(choice: ModelChoice, llm: LlmConfig) -> dict[str, Any]:
    """Return the value of `llm` in a partial config.json. llm: the settings in use."""
    is_same = is_same_endpoint(choice, llm)
    part: dict[str, Any] = {
        "provider": choice.preset.provider,
        "base_url": choice.address,
        "model": choice.model,
    }
    if choice.api_key or not is_same:
        part["api_key"] = choice.api_key
    if not is_same or choice.model != llm.model:
        part["context_window"] = 0  # what was set for another model does not hold
    if choice.fast_model is not None or not is_same:
        part["fast_model"] = choice.fast_model or ""
    if llm.background != "off":
        part["background"] = choice.preset.background
    if choice.fallback is not None:
        part["fallback"] = list(choice.fallback)
    return part
