"""Prints the capabilities of all channels as a Markdown table:
`python -m scripts.channel_table zh`.
"""

import sys
from typing import Any, Literal

from channels.message import Capabilities
from channels.registry import load_channel_class

Language = Literal["en", "zh"]
NAMES = {
    "terminal": ("Terminal", "终端"),
    "web": ("Web page", "网页"),
    "telegram": ("Telegram", "Telegram"),
    "feishu": ("Feishu / Lark", "飞书 / Lark"),
    "wechat": ("WeChat, personal", "微信（个人号）"),
    "wechat_mp": ("WeChat official account", "微信公众号"),
    "wecom": ("WeCom smart bot", "企业微信智能机器人"),
}
HEADS = (
    ("Channel", "渠道"),
    ("Receives", "能收到"),
    ("Groups", "群"),
    ("While it writes", "回复过程"),
    ("One message", "单条上限"),
    ("Files out", "发文件"),
    ("Buttons", "按钮"),
    ("A lost answer is sent", "结果不明时重发"),
    ("Can write first", "可主动发"),
)
RECEIVED = {
    "text": ("text", "文字"),
    "picture": ("pictures", "图片"),
    "file": ("files", "文件"),
    "voice": ("voice", "语音"),
    "video": ("video", "视频"),
    "album": ("albums", "相册"),
    "edit": ("edits", "编辑"),
    "delete": ("withdrawals", "撤回"),
    "button": ("buttons", "按钮"),
    "quote": ("quotes", "引用"),
}
SHOWN = {
    "": ("nothing", "无"),
    "typing": ("typing", "正在输入"),
    "draft": ("a draft that grows", "草稿实时更新"),
    "edits": ("a message that grows", "消息实时更新"),
    "card": ("a card that grows", "卡片实时更新"),
    "stream": ("text that grows", "文字实时更新"),
}
UNITS = {
    "code_points": ("characters", "字符"),
    "utf16": ("UTF-16 units", "个 UTF-16 单元"),
    "utf8": ("bytes", "字节"),
}


def table(lang: Language) -> str:
    """Return a table with a row for each channel, in the order of NAMES."""
    side = 1 if lang == "zh" else 0
    rows = [[head[side] for head in HEADS], ["---"] * len(HEADS)]
    rows += [[names[side], *_cells(_capabilities(name), side)] for name, names in NAMES.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _capabilities(name: str) -> Capabilities:
    """Return the capabilities of a channel, created with dummy credentials if necessary."""
    kind = load_channel_class(name)
    declared = getattr(kind, "capabilities", None)
    if isinstance(declared, Capabilities):
        return declared
    channel: Any = kind(
        kind.settings_type(**dict.fromkeys(getattr(kind.settings_type, "needed", ()), "x"))
    )
    capabilities: Capabilities = channel.capabilities
    return capabilities


def _cells(able: Capabilities, side: int) -> list[str]:
    yes, no = ("yes", "是")[side], "–"
    size = (
        ("no limit", "不限")[side] if not able.limit else f"{able.limit:,} {UNITS[able.unit][side]}"
    )
    return [
        ("、" if side else ", ").join(
            RECEIVED[kind][side] for kind in RECEIVED if kind in able.receives
        ),
        yes + ((" + topics", "，含话题")[side] if able.threads else "") if able.groups else no,
        SHOWN[able.live_display][side],
        size,
        f"{max(able.file_bytes, able.picture_bytes) / 2**20:.0f} MB"
        if able.file_bytes or able.picture_bytes
        else no,
        yes if able.buttons else no,
        _resend_rule(able)[side],
        ("no", "否")[side] if able.user_writes_first else yes,
    ]


def _resend_rule(able: Capabilities) -> tuple[str, str]:
    """Describe how a part is sent again if the platform's answer was lost."""
    if not able.keyed:
        return "once more, marked", "至多再发一次，有标记"
    minutes = round(able.key_valid / 60)
    if minutes > 1_440:
        return "never seen twice", "不会重复显示"
    return f"never seen twice within {minutes} min", f"{minutes} 分钟内不会重复显示"


if __name__ == "__main__":
    print(table("zh" if "zh" in sys.argv else "en"), end="")
