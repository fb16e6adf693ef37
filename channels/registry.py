"""Channel classes by name: those of this table, and those of the entry-point group mnema.channels."""

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
    """Import the class of a channel.

    Raises:
        LookupError: no channel of that name is installed.
    """
    path = CLASS_PATHS.get(name)
    if path is None:
        for point in entry_points(group=GROUP, name=name):
            return point.load()
        raise LookupError(f"there is no channel {name}; there are {', '.join(sorted(CLASS_PATHS))}")
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)
