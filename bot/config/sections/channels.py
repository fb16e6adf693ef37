"""The section `channels`."""

import inspect
from typing import Annotated, Any

from pydantic import Field, create_model

from channels.feishu.settings import FeishuSettings
from channels.registry import find_installed_channels
from channels.telegram.settings import TelegramSettings
from channels.toolkit.settings import (
    AT_RESTART,
    ChannelSettings,
    ConfigSection,
)
from channels.web.settings import WebSettings
from channels.wechat.settings import WechatSettings
from channels.wechat_mp.settings import WechatMpSettings
from channels.wecom.settings import WecomSettings


class BuiltInChannels(ConfigSection):
    """The channels of this program."""

    web: Annotated[WebSettings, AT_RESTART] = Field(
        WebSettings(), title="Web page", description="The page and the API on this machine."
    )
    telegram: TelegramSettings = Field(
        TelegramSettings(), title="Telegram", description="A Telegram bot."
    )
    feishu: FeishuSettings = Field(
        FeishuSettings(), title="Feishu", description="A Feishu or Lark app."
    )
    wechat: WechatSettings = Field(
        WechatSettings(), title="WeChat", description="A personal WeChat account."
    )
    wechat_mp: WechatMpSettings = Field(
        WechatMpSettings(),
        title="WeChat official account",
        description="A WeChat official account.",
    )
    wecom: WecomSettings = Field(WecomSettings(), title="WeCom", description="A WeCom bot.")


def _create_installed_channels() -> type[ConfigSection]:
    """Return a model of the channels of other distributions."""
    fields: dict[str, Any] = {}
    for name, kind in find_installed_channels().classes.items():
        settings_type: type[ChannelSettings] = kind.settings_type
        about = inspect.cleandoc(settings_type.__doc__ or "").partition("\n")[0]
        field = Field(
            settings_type(),
            title=str(settings_type.title),
            description=about,
        )
        fields[name] = (settings_type, field)
    return create_model("InstalledChannels", __base__=ConfigSection, **fields)


class ChannelsConfig(_create_installed_channels(), BuiltInChannels):  # type: ignore[misc]  # a base made at run time
    """The channels."""
