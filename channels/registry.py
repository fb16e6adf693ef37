"""Which name stands for which channel: our own by this table, others by the entry-point group mnema.channels."""

import importlib
from importlib.metadata import entry_points
from typing import Any

GROUP = "mnema.channels"
CLASS_PATHS = {
    "feishu": "channels.feishu.channel:Feishu",
    "telegram": "channels.telegram.channel:Telegram",
    "terminal": "channels.terminal.channel:Terminal",
    "web": "channels.web.channel:Web",
    "wechat": "channels.wechat.channel:Wechat",
    "wechat_mp": "channels.wechat_mp.channel:WechatMp",
    "wecom": "channels.wecom.channel:Wecom",
}


def load_channel_class(name: str) -> Any:
    """The channel's class, imported now.

    Raises:
        LookupError: nothing installed goes by that name.
    """
    place = CLASS_PATHS.get(name)
    if place is None:
        for point in entry_points(group=GROUP, name=name):
            return point.load()
        raise LookupError(f"there is no channel {name}; there are {', '.join(sorted(CLASS_PATHS))}")
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)
