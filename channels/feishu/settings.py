"""What a Feishu or Lark app is set up with."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FeishuSettings:
    """domain: root of the API, "" for Feishu's own. encrypt_key, verification_token: of webhooks. proxy: its URL."""

    app_id: str
    app_secret: str
    domain: str = ""
    mode: Literal["socket", "webhook"] = "socket"
    encrypt_key: str = ""
    verification_token: str = ""
    proxy: str = ""
