"""Channel classes by name: those of this table, and those of other distributions (entry-point group
mnema.channels).
"""

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from channels.phrases import CHINESE_FILE, add_chinese_file
from channels.toolkit.settings import ChannelSettings

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
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledChannels:
    """The channels of other distributions."""

    #: Each class has `name`, `settings_type` and what channels.base.Channel has.
    classes: Mapping[str, Any]
    #: Why each other one cannot be used, as a sentence without a full stop.
    troubles: Mapping[str, str]


@cache
def find_installed_channels() -> InstalledChannels:
    """Import the channels of other distributions. One that fails does not prevent the others."""
    classes: dict[str, Any] = {}
    troubles: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP)):
        try:
            classes[point.name] = _load_installed(point, taken={*CLASS_PATHS, *classes})
        except Exception as err:
            distribution = point.dist.name if point.dist is not None else point.value
            troubles[point.name] = (
                f"the channel {point.name} of the package {distribution} cannot be used: "
                f"{type(err).__name__}: {err}"
            )
    return InstalledChannels(classes=MappingProxyType(classes), troubles=MappingProxyType(troubles))


def _load_installed(point: EntryPoint, taken: set[str]) -> Any:
    """Import a channel's class and check what the configuration needs of it.

    Raises:
        Exception: whatever its import raises; ValueError: it is no channel, or its name is taken.
    """
    if not _NAME.fullmatch(point.name) or point.name in taken:
        raise ValueError("its name is taken, or is not lower-case letters, digits and _")
    kind = point.load()
    if getattr(kind, "name", "") != point.name:
        raise ValueError(f"its class has another name: {getattr(kind, 'name', '')!r}")
    settings_type = getattr(kind, "settings_type", None)
    if not isinstance(settings_type, type) or not issubclass(settings_type, ChannelSettings):
        raise ValueError("its class has no settings_type derived from ChannelSettings")
    add_chinese_file(Path(inspect.getfile(kind)).with_name(CHINESE_FILE.name))
    settings_type()  # all settings need defaults: they are left out until the channel is set up
    return kind


def load_channel_class(name: str) -> Any:
    """Import the class of a channel.

    Raises:
        LookupError: no channel of that name is installed.
    """
    path = CLASS_PATHS.get(name)
    if path is not None:
        module, _, attribute = path.partition(":")
        return getattr(importlib.import_module(module), attribute)
    installed = find_installed_channels().classes
    if name not in installed:
        raise LookupError(
            f"there is no channel {name}; there are {', '.join(sorted({*CLASS_PATHS, *installed}))}"
        )
    return installed[name]
