"""What personal WeChat is set up with; its account comes by a QR code."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WechatSettings:
    """base_url: root of the API, cdn_url: of its files, "" for the platform's own. proxy: its URL."""

    base_url: str = ""
    cdn_url: str = ""
    proxy: str = ""
