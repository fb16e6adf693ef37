"""Refusals in Chinese, by their English sentence; `{}` stands for what differs."""

from channels.toolkit.phrases import PhraseBook

CHINESE = {
    "not allowed": "没有权限",
    "not found": "没有找到",
    "not ready yet; try again in a moment": "还没有准备好，请稍后再试",
    "something went wrong here; the log has the trace": "这里出了问题，日志里有记录",
    "sign in, or send the token as Authorization: Bearer …": (
        "请先登录，或用 Authorization: Bearer … 发送令牌"
    ),
    "the token is wrong": "令牌不对",
    "this link was used already or is older than ten minutes: mnema login prints a new one": (
        "这个链接已用过，或已超过十分钟：运行 mnema login 可得到新的链接"
    ),
    "the passkey is not valid here": "这个通行密钥在这里无效",
    "{} passkeys are stored; remove one first": "已存有 {} 个通行密钥，请先移除一个",
    "the extra passkeys is not installed; install it with: {}": (
        "没有安装附加组件 passkeys，可这样安装：{}"
    ),
    "the browser's answer is not valid; try again": "浏览器的回答无效，请再试",
    "there is no such passkey": "没有这个通行密钥",
    "passkeys need a name instead of an IP address in the address of the page": (
        "通行密钥要求网页的地址是域名，不能是 IP 地址"
    ),
    "too many wrong tokens": "令牌输错次数太多，请稍后再试",
    "this request came from another site": "这个请求来自别的网站",
    "send Content-Type: application/json": "请发送 Content-Type: application/json",
    "the page is from an older login; reload it": "页面属于上一次登录，请重新加载",
    "{} event streams of this login are open; close one first": (
        "这次登录已打开 {} 个事件流，请先关闭一个"
    ),
    "one conversation can be followed at a time": "一次只能跟随一段对话",
    "there are no WebSockets here": "这里没有 WebSocket",
    "the login page takes GET and POST": "登录页只接受 GET 和 POST",
    "the body's length is given in two ways": "请求体的长度给了两次",
    "a platform calls with GET or POST": "平台应以 GET 或 POST 调用",
    # Messages and their files.
    "conversation must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -": (
        "conversation 须为 1 到 128 个字符，只用 A-Z a-z 0-9 . _ : -"
    ),
    "text is empty; write something or attach a file": "没有内容，请写点什么或附上文件",
    "text has {} characters; {} fit, a file takes more": (
        "正文有 {} 个字符，最多 {} 个；更长的内容可作为文件发送"
    ),
    "key must be a string of 1 to {} characters, or left out": (
        "key 须为 1 到 {} 个字符的字符串，也可以不给"
    ),
    "key must be plain text without NUL": "key 须为不含 NUL 的纯文本",
    "{} files; {} fit into one message": "有 {} 个文件，一条消息最多 {} 个",
    "the files have {} bytes; {} fit into one message": "文件共 {} 字节，一条消息最多 {} 字节",
    "{} is not a media type such as image/png": "{} 不是 image/png 这样的媒体类型",
    "data must be base64": "data 须为 base64",
    "an attachment is empty": "有一个附件是空的",
    "the message could not be stored; send it again": "消息没能存下，请再发一次",
    "nothing can be stored: {}": "什么都存不下：{}",
    "too many large messages are on their way; send it again in a minute": (
        "正在传送的大消息太多，请一分钟后再发"
    ),
    # Bodies and queries.
    "{} is missing": "缺少 {}",
    "{} is empty": "{} 是空的",
    "{} is not a field here": "这里没有 {} 这个字段",
    "{} must be a string": "{} 须为字符串",
    "{} must be plain text": "{} 须为纯文本",
    "{} must be a whole number": "{} 须为整数",
    "{} must be a number": "{} 须为数字",
    "{} must be true or false": "{} 须为 true 或 false",
    "{} must be a list": "{} 须为列表",
    "{} must be an object": "{} 须为对象",
    "{} must be one of {}": "{} 须为其中之一：{}",
    "{} must be {} or more": "{} 须不小于 {}",
    "{} must be {} or less": "{} 须不大于 {}",
    "{} may have {} characters": "{} 最多 {} 个字符",
    "{} may have {} entries": "{} 最多 {} 项",
    "{} is not as it must be: {}": "{} 不符合要求：{}",
    "month must be one such as 2026-11": "month 须为 2026-11 这样的月份",
    "passphrase must be one line of at most {} characters": "passphrase 须为一行，最多 {} 个字符",
    "passphrase must have {} characters or more; several words are best": (
        "passphrase 至少 {} 个字符，最好用几个词"
    ),
    "policies is a list of: {}; empty for all": "policies 须为列表，可选：{}；空列表表示全部",
    "the body is larger than {} bytes": "请求体超过 {} 字节",
    "a message without {} may have {} bytes": "没有 {} 的消息最多 {} 字节",
    "the body has too many members": "请求体的成员太多",
    "the body must be a JSON object": "请求体须为 JSON 对象",
    "the body is not plain JSON: {}": "请求体不是合格的 JSON：{}",
    "the body did not arrive within {} s": "请求体没有在 {} 秒内到齐",
    "nothing more of the body arrived within {} s": "请求体有 {} 秒没有新的数据",
    "the server is stopping; send it again in a moment": "服务正在停止，请稍后再发一次",
    "the body was cut off": "请求体在中途断了",
    "{} is neither the id nor the line of a message here": "{} 既不是这里消息的编号，也不是行号",
    "cursor is not one that this list gave as next": "cursor 不是这个列表给出的 next",
    "{} must be a day such as 2026-11-20": "{} 须为 2026-11-20 这样的日期",
    # Conversations.
    "there is no such conversation": "没有这段对话",
    "there is no such message": "没有这条消息",
    "there is no such message, or it has no turn": "没有这条消息，或者它没有引出回合",
    "only a conversation of your own can be branched": "只有你自己的对话可以分支",
    "there is a conversation of that name": "已经有同名的对话",
    "there is no such file": "没有这个文件",
    "there is no picture of this file": "这个文件没有图片",
    "title may have {} characters": "标题最多 {} 个字符",
    "send If-Match with the ETag that the conversation was read with": (
        "请用 If-Match 发送读这段对话时得到的 ETag"
    ),
    "the conversation was changed meanwhile; read it again": "这段对话刚被改过，请重新读取",
    "the audit list could not be written, so this stays closed; try again": (
        "审计日志写不进去，因此没有打开，请再试"
    ),
    # Files, settings, memory.
    "send If-Match with the ETag that the file was read with": (
        "请用 If-Match 发送读这个文件时得到的 ETag"
    ),
    "the file must be UTF-8": "文件须为 UTF-8",
    "the file was changed meanwhile; read it again": "文件刚被改过，请重新读取",
    "the file could not be written; nothing changed": "文件写不进去，什么都没有改",
    "the file is not UTF-8; it was left as it is": "文件不是 UTF-8，保持原样",
    "the settings were changed meanwhile; read them again": "设置刚被改过，请重新读取",
    "memory cannot be searched now: {}": "现在无法搜索记忆：{}",
    "there is no such memory": "没有这份记忆",
    "another person's memory is changed by that person only": "别人的记忆只有本人能改",
    "there is no such fact": "没有这条事实",
    "send If-Match with the ETag that the fact was read with": (
        "请用 If-Match 发送读这条事实时得到的 ETag"
    ),
    "the fact was changed meanwhile; read it again": "这条事实刚被改过，请重新读取",
    "the line was changed in the file meanwhile; read it again": (
        "文件里的这一行刚被改过，请重新读取"
    ),
    "another fact says this already": "已经有一条说的是这个",
    "only a fact that holds can be corrected": "只有现在成立的事实才能更正",
    "what was forgotten is gone for good and cannot be put back": "忘记的内容已彻底删除，无法放回",
    "this fact is in the memory already": "这条事实就在记忆里",
    "the fact that took its place was changed since; correct that one instead": (
        "取代它的那条后来又改过，请直接更正那一条"
    ),
    "this fact is forgotten already": "这条事实已经忘掉了",
    "nothing waits to be forgotten under this code; look at it again": (
        "这个代码没有等待忘掉的内容，请重新查看"
    ),
    "chosen must be positions from 0 to {}, or null": "chosen 须为 0 到 {} 的位置，或 null",
    "not all of it could be written; what was confirmed goes on at the next try: {}": (
        "没有全部写完；已确认的会在下次继续：{}"
    ),
    "there is no such day": "没有这一天",
    "there is no such night": "没有这一夜",
    "this night changed nothing, or it was undone already": "这一夜什么也没有改，或者已经撤销",
    # Past requests and acts on a context.
    "an answer is being written here; wait for it, or stop it first": (
        "这里正在写回答，请等它写完，或先停下它"
    ),
    "there is too little here to fold yet": "这里的内容还太少，不用整理",
    "a fold is in progress already": "已经在整理了",
    "there is no fold or clear to undo": "没有可撤销的整理或清空",
    "policy must be one of {}, or empty": "policy 须为其中之一：{}，或留空",
    "no such request is kept; console.views_days says for how long they are": (
        "没有保存这次请求；保存多久由 console.views_days 决定"
    ),
    # Models, logins, files that count as from outside.
    "there is no preset {}; there are {}": "没有预设 {}，可选：{}",
    "the address of the server is missing": "缺少服务器的地址",
    "a reference to an environment variable is written in Settings; here enter the value itself": (
        "环境变量的引用请写在“设置”里；这里请填写值本身"
    ),
    "there is no such login": "没有这次登录",
    "There is no {} in the workspace.": "工作区里没有 {}。",
    "There is no such file in the workspace.": "工作区里没有这个文件。",
    "{} is in a folder whose files always count as words from outside.": (
        "{} 所在的文件夹里，文件始终算作外来的文字。"
    ),
    "{} is in {}, which counts as from outside as a whole. Say of that folder that it is yours.": (
        "{} 所在的 {} 整个算作外来的。请把那个文件夹标为自己的。"
    ),
    # Settings, channels to test, skills, servers of tools, people.
    "If-Match with the ETag of the settings that were read is missing": (
        "缺少 If-Match：请发送读取设置时得到的 ETag"
    ),
    "part must be a part of config.json, or text the whole of it": (
        "part 须为 config.json 的一部分，或者用 text 给出全文"
    ),
    "part must hold settings below channels, or nothing": "part 只能包含 channels 下的设置，或为空",
    "the file has to be mended on the disk: {}": "请在磁盘上修好这个文件：{}",
    "there is no such version (any more)": "没有这个版本，或者它已不在了",
    "there is no channel {} to test; there are {}": "没有可测试的渠道 {}，可选：{}",
    "there is no such skill in the workspace": "工作区里没有这个技能",
    "{} cannot be enabled: {}": "{} 无法启用：{}",
    "{} is another one than was shown; read it again": "{} 和显示的不一样了，请重新读取",
    "config.json has no such server under mcp": "config.json 的 mcp 下没有这个服务器",
    "config.json names another program for {} now; read it again": (
        "config.json 里 {} 的程序已换成别的，请重新读取"
    ),
    "these are others than were shown; read them again: {}": (
        "这些和显示的不一样了，请重新读取：{}"
    ),
    "{} could not be listed: {}": "列不出 {} 的工具：{}",
    "a person is named CHANNEL:ID, such as telegram:42": (
        "人的写法是 CHANNEL:ID，例如 telegram:42"
    ),
    "{} has no role and has written nothing": "{} 没有角色，也没有写过什么",
    "{}:{} has written nothing": "{}:{} 没有写过什么",
    # Backups and jobs.
    "there are too many files named {}; delete some, or rename it": (
        "名为 {} 的文件太多，请删掉一些，或换个名字"
    ),
    "type the home's name, {}, to replace what it holds": "请输入主目录的名字 {}，以替换它的内容",
    "this process cannot restore; run: mnema restore FILE": (
        "这个进程不能恢复备份，请运行：mnema restore FILE"
    ),
    "a piece has 1 to {} bytes": "每一段须为 1 到 {} 字节",
    "there is no such backup": "没有这个备份",
    "this upload was dropped; begin it again": "这次上传已作废，请重新开始",
    "the next piece begins at {} of {}": "下一段从 {} 开始（共 {}）",
    "the upload was dropped: {}": "上传已作废：{}",
    "another {} is running; wait for it, or cancel it": (
        "已有一项 {} 在运行，请等它结束，或先取消它"
    ),
    "there is no such job; it ended before the last start": (
        "没有这项工作；它在上次启动之前就结束了"
    ),
    # Channels, tasks, approvals.
    "this needs a fresh login: give the token again": "这需要刚刚登录过：请再输入一次令牌",
    "type the name, {}, to delete all data of this person": "请输入名字 {}，以删除此人的全部资料",
    "not all could be deleted yet; try again, or restart the bot": (
        "还没有全部删掉：请再试，或重启机器人"
    ),
    "There is no person {}; mnema people list shows all.": (
        "没有 {} 这个人；mnema people list 列出所有人。"
    ),
    (
        "{} is the owner or linked to the owner; /unlink separates an account, and the owner's own "
        "data is removed with /forget, mnema sessions delete, or with the whole home."
    ): (
        "{} 是所有者，或与所有者相连：/unlink 可解除相连；所有者自己的资料用 /forget、mnema "
        "sessions delete 删除，或连同整个主目录删除。"
    ),
    "there is no such request": "没有这个请求",
    "digest must be that of the request as the list shows it; read it again": (
        "digest 须与列表显示的请求一致，请重新读取"
    ),
    "this channel shows no QR code now": "这个渠道现在没有二维码",
    "this channel asks for nothing to be typed now": "这个渠道现在不需要输入什么",
    "text must be the 1 to {} digits that are shown on the telephone": (
        "text 须为手机上显示的 1 到 {} 位数字"
    ),
    "there is no channel {} here: channels.{}.enabled in config.json must be true": (
        "这里没有渠道 {}：config.json 的 channels.{}.enabled 须为 true"
    ),
    "{} is not logged in by a person: its credentials are in config.json": (
        "{} 不需要有人登录：它的凭据在 config.json 里"
    ),
    "{} is no path inside the workspace; give it as in files/notes.txt.": (
        "{} 不是工作区里的路径；请像 files/notes.txt 这样给出。"
    ),
    "{} belongs to another person or a group; only files of your own workspace can be yours.": (
        "{} 属于别人或群；只有你自己工作区里的文件才能算你的。"
    ),
    "there is no such task": "没有这个任务",
    "there is no such rule": "没有这条规则",
}


_BOOK = PhraseBook(CHINESE)


def to_chinese(message: str) -> str:
    """Return a refusal in Chinese; one that is not known stays as it is. Pure."""
    return _BOOK.translate(message)
