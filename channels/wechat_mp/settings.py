"""What a WeChat official account is set up with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WechatMpSettings:
    """base_url: root of the API, "" for the platform's own. encoding_aes_key: 43 signs. proxy: its URL."""

    app_id: str
    app_secret: str
    token: str
    encoding_aes_key: str = ""
    base_url: str = ""
    proxy: str = ""
