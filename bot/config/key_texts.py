"""What each key of config.json means, for people: titles, Chinese descriptions and examples.

The English descriptions are those of the fields in the schema.
"""

from dataclasses import dataclass
from typing import Literal

ANY_CHANNEL = "channels.*"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """The texts of one key that its field does not hold."""

    #: In Chinese and in English.
    title: tuple[str, str]
    #: The description in Chinese.
    about_zh: str
    #: The description in English, of what is not a field.
    about_en: str = ""
    #: A value that differs from the default, as it is typed; "" for a section, a flag or a choice.
    example: str = ""


def find_key_text(name: str) -> KeyText | None:
    """Return the texts of a dotted key; a channel's own come before those that all channels
    share.
    """
    shared = name.split(".", 2)[2:] if name.startswith("channels.") else []
    row = _ROWS.get(name) or (_ROWS.get(".".join([ANY_CHANNEL, *shared])) if shared else None)
    about_en = _ITEM_TEXTS.get(name, "")
    return (
        KeyText(title=row[:2], about_zh=row[2], about_en=about_en, example=row[3]) if row else None
    )


# Keys that are only read at the start, and those that a turn reads once; every other one is in
# force at once.
_AT_START = ("channels.web.", "concurrency", "database_url", "log.", "session_restore", "timezone")
_PER_TURN = (
    "agent_",
    "context_policy",
    "policies",
    "llm.",
    "memory.recall_",
    "tools.",
    "skills.",
    "mcp",
    "plugins",
    "delegate.",
)
TakesEffect = Literal["now", "turn", "restart"]


def when_effective(name: str) -> TakesEffect:
    """Tell from when on a change of this dotted key is in force: now, at the next turn, or after a
    restart.
    """
    if name.startswith(_AT_START):
        return "restart"
    return "turn" if name.startswith(_PER_TURN) else "now"


_UNITS = {
    "agent_max_context_tokens": "tokens",
    "agent_max_context_turns": "turns",
    "agent_max_steps": "calls",
    "session_max_idle_days": "days",
    "retention_days": "days",
    "console.views_days": "days",
    "concurrency": "turns",
    "llm.context_window": "tokens",
    "llm.max_output_tokens": "tokens",
    "memory.recall_limit": "passages",
    "memory.recall_timeout_ms": "ms",
    "tools.web.cache_mb": "MB",
    "tools.exec.seconds": "s",
    "tools.exec.memory_mb": "MB",
    "tools.exec.disk_mb": "MB",
    "tools.exec.processes": "processes",
    "skills.index_tokens": "tokens",
    "jobs.do_a_day": "a_day",
    "jobs.late_hours": "h",
    "delegate.at_once": "at_once",
    "delegate.tokens": "tokens",
    "delegate.minutes": "min",
    "delegate.wait_seconds": "s",
    "heartbeat.every": "min",
    "heartbeat.notices": "a_day",
    "mcp.*.seconds": "s",
    "log.max_mb": "MB",
    "log.keep": "files",
    "budgets.user.messages_per_minute": "a_minute",
    "budgets.user.jobs": "at_once",
    "budgets.user.storage_mb": "MB",
    "budgets.total.storage_mb": "MB",
    "budgets.user.money_per_day": "money_a_day",
    "budgets.total.money_per_day": "money_a_day",
    "budgets.user.tokens_per_day": "tokens_a_day",
}


def unit_of(name: str) -> str:
    """Return the unit of a number by its dotted key, "" for one that has none."""
    return _UNITS.get(name, "a_day" if name.endswith("_per_day") else "")


_ITEM_TEXTS = {
    "mcp.*.env.*": "A variable of its environment.",
    "mcp.*.headers.*": "A header of each request.",
    "plugins.*.env.*": "A secret.",
}  # of keys that are no fields, in English


# By dotted name: Chinese title, English title, Chinese description, example.
_ROWS: dict[str, tuple[str, str, str, str]] = {
    "agent_max_context_tokens": (
        "上下文 token 上限",
        "Context limit in tokens",
        "一次请求最多给模型看多少 token；调大记得更多，也更贵。",
        "80000",
    ),
    "agent_max_context_turns": (
        "上下文轮数上限",
        "Context limit in turns",
        "对话达到这么多轮时，balanced 和 turns 策略会整理较早的一半。",
        "30",
    ),
    "agent_max_steps": (
        "单轮步数上限",
        "Steps in one turn",
        "回答一条消息最多调用模型多少次（含调用工具）。",
        "25",
    ),
    "context_policy": (
        "上下文策略",
        "Context policy",
        "用哪种办法控制上下文的长度。balanced：旧的工具结果先缩成一行，再在后台整理较早的一半；"
        "turns：轮数到上限就整理一半；budget：只留最新的部分；layers：窗口越满压缩越多；boundary："
        "在话题转换处分开；rolling：随时并入摘要。",
        "",
    ),
    "policies": (
        "策略的参数",
        "Policy settings",
        "只写与默认值不同的数，按策略名分组；/policy 会列出各策略的主要参数。",
        '{"balanced": {"snip_chars": 15000}}',
    ),
    "session_restore": (
        "重启后的上下文",
        "Context after a restart",
        "full：重启前后完全一样；lean：只留最近几轮的提问和回答。",
        "",
    ),
    "session_max_idle_days": (
        "会话闲置天数",
        "Idle days of a session",
        "闲置这么多天后会话自动结束；0 表示从不。",
        "14",
    ),
    "retention_days": (
        "保留天数",
        "Retention in days",
        "闲置超过这么多天的会话会在夜间删除；0 表示从不。",
        "365",
    ),
    "notify_folds": (
        "整理通知",
        "Fold notices",
        "整理较早的对话时，在聊天里说一声，带整理前后的 token 数。",
        "",
    ),
    "language": (
        "语言",
        "Language",
        "机器人自己的文字（命令的回复等）用哪种语言；auto 跟随用户。",
        "",
    ),
    "timezone": (
        "时区",
        "Time zone",
        "决定一条日记属于哪一天；留空用这台机器的时区。重启后生效。",
        "Asia/Shanghai",
    ),
    "concurrency": ("并行轮数", "Parallel turns", "最多同时回答多少条消息。重启后生效。", "16"),
    "database_url": (
        "数据库",
        "Database",
        "PostgreSQL 的地址；留空用 data/mnema.db（SQLite）。",
        "postgresql+psycopg://mnema@127.0.0.1/mnema",
    ),
    "llm": ("语言模型", "Language model", "由谁来回答，怎么连接。", ""),
    "llm.provider": (
        "模型服务商",
        "Provider",
        "anthropic；openai（任何兼容的接口）；offline（离线，只作演示）。",
        "",
    ),
    "llm.model": ("模型", "Model", "模型的名字；留空用服务商目前的中等模型。", "gpt-5"),
    "llm.fast_model": (
        "小模型",
        "Small model",
        "写摘要等杂务用的模型；留空用服务商目前的小模型。",
        "gpt-5-mini",
    ),
    "llm.api_key": (
        "模型密钥",
        "Model key",
        "最好写成环境变量的引用；不填就读 ANTHROPIC_API_KEY 或 OPENAI_API_KEY，都没有则离线运行。",
        "${MY_KEY}",
    ),
    "llm.base_url": (
        "模型接口地址",
        "Endpoint",
        "留空用服务商自己的地址。",
        "http://127.0.0.1:11434/v1",
    ),
    "llm.context_window": (
        "模型窗口",
        "Context window",
        "模型一次能看多少 token；0 表示自动得知。",
        "128000",
    ),
    "llm.max_output_tokens": ("回答长度上限", "Longest answer", "一次回答最多多少 token。", "8192"),
    "llm.proxy": (
        "模型代理",
        "Proxy for the model",
        "调用模型时走的 HTTP 代理；留空不用代理。",
        "http://127.0.0.1:7890",
    ),
    "llm.fallback": (
        "备用模型",
        "Fallback models",
        "主模型用不了时依次尝试的其他模型。",
        '[{"provider": "openai", "model": "gpt-5", "api_key": "${OPENAI_API_KEY}"}]',
    ),
    "llm.fallback.*.provider": ("服务商", "Provider", "通过哪种接口访问这个模型。", ""),
    "llm.fallback.*.model": ("模型", "Model", "模型的名字；留空用服务商的默认模型。", ""),
    "llm.fallback.*.api_key": ("密钥", "Key", "这个模型的密钥。", ""),
    "llm.fallback.*.base_url": ("接口地址", "Endpoint", "留空用服务商自己的地址。", ""),
    "llm.fallback.*.proxy": ("代理", "Proxy", "访问它时走的 HTTP 代理；留空不用代理。", ""),
    "llm.background": (
        "后台的模型调用",
        "Background calls",
        "什么时候写摘要、记事实：parallel 与回答同时；idle 没有人在等回答时，"
        "适合一次只能答一个的服务器；off 不用模型，摘要用摘录，也不记事实。",
        "idle",
    ),
    "llm.tell_spare": (
        "注明备用模型",
        "Name the fallback",
        "由备用模型回答时，在回答下面注明。",
        "",
    ),
    "channels": ("渠道", "Channels", "在哪些平台上和机器人说话。", ""),
    "channels.*.enabled": (
        "启用",
        "Enabled",
        "关闭时保留设置，但不启动；不写的话，填好凭据就会启动。",
        "",
    ),
    "channels.*.owners": ("所有者", "Owners", "拥有全部权限的用户 id。", '["123456789"]'),
    "channels.*.allow": (
        "允许名单",
        "Allowed users and groups",
        "可以和机器人说话的用户 id 和群 id；留空表示谁也不行。",
        '["123456789"]',
    ),
    "channels.*.pairing": (
        "配对",
        "Pairing",
        "陌生人来信时给一个配对码，由你批准；关闭则不理会。",
        "",
    ),
    "channels.*.proxy": (
        "渠道代理",
        "Proxy of the channel",
        "这个渠道走的 HTTP 代理；留空不用代理。",
        "http://127.0.0.1:7890",
    ),
    "channels.*.base_url": (
        "接口地址",
        "API endpoint",
        "留空用平台自己的地址。",
        "http://127.0.0.1:8081",
    ),
    "channels.web": ("网页", "Web page", "这台机器上的网页和接口。", ""),
    "channels.web.enabled": ("启用", "Enabled", "关闭后没有网页和接口。", ""),
    "channels.web.host": (
        "监听地址",
        "Listening address",
        "只监听本机；要对外开放，请在前面放一个带 TLS 的代理。",
        "",
    ),
    "channels.web.port": ("端口", "Port", "网页的端口；0 表示任选一个空闲的。重启后生效。", "8700"),
    "channels.web.public_url": (
        "对外地址",
        "Public address",
        "前面那个带 TLS 的代理的 https 地址，不带路径。",
        "https://bot.example.org",
    ),
    "channels.web.push": (
        "网页通知",
        "Notifications",
        "允许浏览器在有新消息时收到通知（Web Push）；需要 public_url。通知里没有消息的内容。",
        "true",
    ),
    "channels.web.trusted_proxies": (
        "可信代理",
        "Trusted proxies",
        "这些代理给出的 X-Forwarded-For 用来在限速时区分客户端，此外没有别的作用。",
        '["127.0.0.1"]',
    ),
    "channels.telegram": ("Telegram", "Telegram", "一个 Telegram 机器人。", ""),
    "channels.telegram.token": (
        "机器人令牌",
        "Bot token",
        "向 BotFather 申请；填好后渠道就会启动。",
        "${TELEGRAM_TOKEN}",
    ),
    "channels.telegram.mode": (
        "接收方式",
        "How messages come in",
        "polling：轮询；webhook：由平台推送。",
        "",
    ),
    "channels.telegram.webhook_secret": (
        "推送密钥",
        "Webhook secret",
        "每次推送都要核对；至少 32 个字符。",
        "${TELEGRAM_WEBHOOK_SECRET}",
    ),
    "channels.telegram.webhook_url": (
        "推送地址",
        "Webhook address",
        "本程序对外的 https 地址，启动时会向平台登记。",
        "https://bot.example.org/telegram",
    ),
    "channels.telegram.reactions": ("表情回执", "Reactions", "收到消息时，在上面加一个表情。", ""),
    "channels.feishu": ("飞书", "Feishu", "一个飞书或 Lark 应用。", ""),
    "channels.feishu.app_id": (
        "应用 id",
        "App id",
        "应用的 id；id 和密钥都填好后渠道就会启动。",
        "cli_a1b2c3",
    ),
    "channels.feishu.app_secret": ("应用密钥", "App secret", "应用的密钥。", "${FEISHU_SECRET}"),
    "channels.feishu.domain": (
        "接口地址",
        "API endpoint",
        "留空用飞书自己的地址。",
        "https://open.larksuite.com",
    ),
    "channels.feishu.mode": (
        "接收方式",
        "How messages come in",
        "socket：长连接；webhook：由平台推送。",
        "",
    ),
    "channels.feishu.encrypt_key": (
        "加密密钥",
        "Encrypt key",
        "webhook 方式用来解密推送。",
        "${FEISHU_ENCRYPT_KEY}",
    ),
    "channels.feishu.verification_token": (
        "校验令牌",
        "Verification token",
        "webhook 方式用来核对推送。",
        "${FEISHU_TOKEN}",
    ),
    "channels.wechat": ("微信", "WeChat", "一个微信个人号。", ""),
    "channels.wechat.enabled": ("启用", "Enabled", "打开后会显示二维码，扫码登录。", ""),
    "channels.wechat.cdn_url": (
        "文件地址",
        "File endpoint",
        "文件存放的地址；留空用平台自己的。",
        "http://127.0.0.1:8082",
    ),
    "channels.wechat_mp": ("公众号", "WeChat official account", "一个微信公众号。", ""),
    "channels.wechat_mp.app_id": (
        "公众号 id",
        "Account id",
        "公众号的 id；id、密钥和令牌都填好后渠道就会启动。",
        "wx1234567890",
    ),
    "channels.wechat_mp.app_secret": (
        "公众号密钥",
        "Account secret",
        "公众号的密钥。",
        "${WECHAT_MP_SECRET}",
    ),
    "channels.wechat_mp.token": ("令牌", "Token", "平台的请求用它签名。", "${WECHAT_MP_TOKEN}"),
    "channels.wechat_mp.encoding_aes_key": (
        "加解密密钥",
        "Message key",
        "安全模式用，43 个字符；不填则所有人都只算访客。",
        "${WECHAT_MP_AES_KEY}",
    ),
    "channels.wecom": ("企业微信", "WeCom", "一个企业微信机器人。", ""),
    "channels.wecom.bot_id": (
        "机器人 id",
        "Bot id",
        "机器人的 id；id 和密钥都填好后渠道就会启动。",
        "bot-1234",
    ),
    "channels.wecom.secret": ("机器人密钥", "Bot secret", "机器人的密钥。", "${WECOM_SECRET}"),
    "channels.wecom.ws_url": (
        "长连接地址",
        "Socket endpoint",
        "留空用平台自己的地址。",
        "ws://127.0.0.1:8083",
    ),
    "groups": ("群聊", "Group chats", "群聊里的行为。", ""),
    "groups.listen": (
        "旁听群聊",
        "Listen in groups",
        "把没有对机器人说的话也存下来，下次有人叫它时作为背景。",
        "",
    ),
    "memory": ("长期记忆", "Long-term memory", "记住什么，怎么想起来。", ""),
    "memory.extract": ("自动记忆", "Extraction", "每轮之后把值得长期记住的事存下来。", ""),
    "memory.categories": (
        "记忆的类别",
        "Kinds of facts",
        "存哪几类事实。",
        '["user_preference", "fact"]',
    ),
    "memory.min_importance": ("最低重要度", "Least importance", "重要度低于它的事实不存。", "7"),
    "memory.similarity": ("相似度", "Similarity", "两条记忆相似到这个程度就算同一条。", "0.9"),
    "memory.dream_at": ("夜间整理", "Nightly tidying", "每晚整理记忆的时刻，写作 HH:MM。", "04:15"),
    "memory.recall_limit": (
        "回忆条数",
        "Recalled passages",
        "为一条消息最多想起多少段；0 表示不回忆。",
        "8",
    ),
    "memory.recall_timeout_ms": (
        "回忆时限",
        "Time for recall",
        "一轮最多等回忆多少毫秒，超时就不等了。",
        "800",
    ),
    "memory.embedding": (
        "向量检索",
        "Vectors for recall",
        "除了词语，再用向量检索；null 表示装了附加组件 embeddings 就用本机的模型，没装就只按词。",
        "",
    ),
    "memory.embedding.provider": (
        "向量来源",
        "Provider of vectors",
        "openai：任何兼容的接口；local：这台机器上的模型；none：只按词。",
        "",
    ),
    "memory.embedding.base_url": (
        "向量接口地址",
        "Endpoint of vectors",
        "openai 的接口地址；留空用服务商自己的。",
        "http://127.0.0.1:11434/v1",
    ),
    "memory.embedding.model": (
        "向量模型",
        "Embedding model",
        "模型的名字；留空用服务商的小模型。",
        "bge-m3",
    ),
    "memory.embedding.api_key": (
        "向量密钥",
        "Key for vectors",
        "接口的密钥；不需要密钥的服务留空。",
        "${OPENAI_API_KEY}",
    ),
    "budgets": ("用量限制", "Budgets", "对所有者以外所有人的限制；0 表示不限。", ""),
    "budgets.user": ("每人限制", "Budget per person", "每个人各自的限制；0 表示不限。", ""),
    "budgets.user.messages_per_minute": (
        "每分钟消息",
        "Messages a minute",
        "每人每分钟最多多少条消息。",
        "10",
    ),
    "budgets.user.messages_per_day": (
        "每天消息",
        "Messages a day",
        "每人每天最多多少条消息。",
        "200",
    ),
    "budgets.user.tokens_per_day": (
        "每天 token",
        "Tokens a day",
        "每人每天最多多少 token，命中缓存的不算。",
        "1000000",
    ),
    "budgets.user.money_per_day": (
        "每天花费",
        "Money a day",
        "每人每天最多花多少钱，单位同价格表。",
        "0.5",
    ),
    "budgets.user.tool_calls_per_day": (
        "每天工具调用",
        "Tool calls a day",
        "每人每天最多调用多少次工具。",
        "100",
    ),
    "budgets.user.fetches_per_day": (
        "每天抓取网页",
        "Pages fetched a day",
        "每人每天最多抓取多少个网页。",
        "20",
    ),
    "budgets.user.searches_per_day": (
        "每天联网搜索",
        "Searches a day",
        "每人每天最多联网搜索多少次。",
        "20",
    ),
    "budgets.user.jobs": (
        "提醒与任务",
        "Reminders and jobs",
        "每人同时最多多少个提醒和任务。",
        "10",
    ),
    "budgets.user.storage_mb": ("文件空间", "File storage", "每人存的文件最多多少 MB。", "200"),
    "budgets.user.guest_messages_per_day": (
        "访客消息",
        "Guest messages a day",
        "群里的访客每人每天最多多少条。",
        "5",
    ),
    "budgets.people": (
        "个人限制",
        "Limits of single people",
        "给个别人另定限制，代替每人限制；按“渠道:id”填写。",
        '{"telegram:42": {"messages_per_day": 20}}',
    ),
    "budgets.people.*.messages_per_minute": (
        "每分钟消息",
        "Messages a minute",
        "每分钟最多多少条；null 同其他人。",
        "",
    ),
    "budgets.people.*.messages_per_day": (
        "每天消息",
        "Messages a day",
        "每天最多多少条；null 同其他人。",
        "",
    ),
    "budgets.people.*.tokens_per_day": (
        "每天 token",
        "Tokens a day",
        "每天最多多少；null 同其他人。",
        "",
    ),
    "budgets.people.*.money_per_day": (
        "每天花费",
        "Money a day",
        "每天最多花多少；null 同其他人。",
        "",
    ),
    "budgets.total": ("总限制", "Budget of all", "所有者以外所有人合计的限制；0 表示不限。", ""),
    "budgets.total.messages_per_day": (
        "每天消息合计",
        "Messages a day, all",
        "所有人每天合计最多多少条消息。",
        "1000",
    ),
    "budgets.total.money_per_day": (
        "每天花费合计",
        "Money a day, all",
        "所有人每天合计最多花多少钱，单位同价格表。",
        "5",
    ),
    "budgets.total.storage_mb": (
        "文件空间合计",
        "File storage, all",
        "所有人存的文件合计最多多少 MB。",
        "5000",
    ),
    "access": ("访问", "Access", "只有渠道名单里的人可以使用；没有哪个设置能放宽这一点。", ""),
    "tools": ("工具", "Tools", "模型可以用的工具。", ""),
    "tools.exec": ("运行命令", "Commands", "在沙箱里运行程序和脚本，每次都要所有者批准。", ""),
    "tools.exec.enabled": (
        "启用",
        "Enabled",
        "模型可以请求在所有者的工作区里运行命令；没有可用的沙箱时不提供。",
        "true",
    ),
    "tools.exec.seconds": ("时间上限", "Time limit", "一条命令默认最多运行多少秒。", "120"),
    "tools.exec.memory_mb": (
        "内存上限",
        "Memory limit",
        "一条命令和它启动的一切最多用多少 MB 内存。",
        "2048",
    ),
    "tools.exec.processes": ("进程上限", "Process limit", "一条命令最多有多少进程和线程。", "128"),
    "tools.exec.disk_mb": ("写盘上限", "Disk limit", "一条命令最多往磁盘写多少 MB。", "1024"),
    "delegate": ("子代理", "Sub-agents", "模型把任务交给子代理，它们同时进行，互不影响。", ""),
    "delegate.enabled": (
        "启用子代理",
        "Use sub-agents",
        "让模型可以把任务交给子代理。会多用 token。",
        "true",
    ),
    "delegate.at_once": ("同时几个", "At once", "一份记忆里最多同时有几个子代理。", "5"),
    "delegate.tokens": ("token 上限", "Token limit", "一个子代理最多读写多少 token。", "50000"),
    "delegate.minutes": ("时间上限", "Time limit", "一个子代理最多用多少分钟。", "20"),
    "delegate.wait_seconds": (
        "等待",
        "Wait",
        "模型最多等结果多少秒；等不到就先往下做，结果之后作为消息送到。",
        "20",
    ),
    "skills": ("技能", "Skills", "工作区里由你启用的成套说明。", ""),
    "skills.index_tokens": (
        "技能目录",
        "List of skills",
        "每次请求里技能目录最多占多少 token。",
        "1000",
    ),
    "jobs": ("提醒与任务", "Reminders and tasks", "提醒什么时候发，任务什么时候执行。", ""),
    "jobs.quiet": (
        "安静时段",
        "Quiet hours",
        "这段时间里不执行任务，提醒照常；写起止时刻，[] 表示没有。",
        '["23:00", "07:00"]',
    ),
    "jobs.do_a_day": (
        "每天任务次数",
        "Tasks a day",
        "每人（包括所有者）每天最多执行多少次任务；0 表示不限。",
        "48",
    ),
    "jobs.late_hours": (
        "最多晚多久",
        "Hours late",
        "提醒和一次性任务最多晚多少小时还会发出；再晚就跳过。",
        "12",
    ),
    "heartbeat": ("心跳", "Heartbeat", "机器人定时自己看一眼 HEARTBEAT.md，默认不出声。", ""),
    "heartbeat.every": ("间隔", "Interval", "每隔多少分钟看一次；0 表示不看。", "30"),
    "heartbeat.day_share": (
        "每天份额",
        "Share of a day",
        "每天最多用多少，按 budgets.user.tokens_per_day 的比例。",
        "0.02",
    ),
    "heartbeat.notices": ("每天通知", "Notices a day", "每天最多发多少条通知；之后暂停。", "5"),
    "tools.web": ("网页", "Web", "打开网页和联网搜索。", ""),
    "tools.web.fetch": ("打开网页", "Open pages", "模型可以打开公开的网页、PDF 和图片。", "false"),
    "tools.web.guests": (
        "访客也可用",
        "For guests",
        "群里的访客也可以让机器人打开网页和搜索。",
        "true",
    ),
    "tools.web.allow": (
        "额外允许的地址",
        "Further addresses",
        "公网之外还可以打开的“主机:端口”；模型可以读取那里的一切。",
        '["10.0.0.7:8080"]',
    ),
    "tools.web.cache_mb": (
        "网页缓存",
        "Page cache",
        "最近 15 分钟的网页最多占多少 MB 内存；0 表示不缓存。",
        "8",
    ),
    "tools.web.providers": (
        "搜索服务",
        "Search providers",
        "按顺序询问，前一个不行就问下一个；一个都没有时不提供搜索。",
        '[{"name": "bocha", "api_key": "${BOCHA_KEY}"}]',
    ),
    "tools.web.providers.*.name": (
        "名称",
        "Name",
        "tavily、brave、bocha、searxng 或 exa。",
        "bocha",
    ),
    "tools.web.providers.*.api_key": (
        "密钥",
        "Key",
        "这个服务的密钥；searxng 不需要。",
        "${BOCHA_KEY}",
    ),
    "tools.web.providers.*.base_url": (
        "地址",
        "Address",
        "留空用服务自己的地址；searxng 必须填写。",
        "https://search.example.org",
    ),
    "tools.off": (
        "停用的工具",
        "Tools that are off",
        "不提供给模型的工具的名字。",
        '["send_file"]',
    ),
    "mcp": (
        "MCP 服务器",
        "MCP servers",
        (
            "按名称列出提供工具的 MCP 服务器；只能写在这个文件里。工具要用 mnema mcp review "
            "审阅后才会提供给模型。"
        ),
        '{"files": {"command": ["npx", "-y", "server-files"], "env": {"KEY": "${FILES_KEY}"}}}',
    ),
    "mcp.*.command": (
        "命令",
        "Command",
        "要启动的程序和它的参数；不经过 shell。与 url 二选一。",
        '["/usr/bin/server", "--stdio"]',
    ),
    "mcp.*.env": (
        "环境变量",
        "Environment",
        "给它的环境变量；此外只有 PATH 和 LANG，在沙箱里还有 HOME 和 TMPDIR。",
        '{"KEY": "${FILES_KEY}"}',
    ),
    "mcp.*.env.*": ("变量", "Variable", "一个环境变量。", "${FILES_KEY}"),
    "mcp.*.url": (
        "地址",
        "Address",
        "在别处运行的服务器的 https 地址。",
        "https://tools.example.org/mcp",
    ),
    "mcp.*.headers": (
        "请求头",
        "Headers",
        "发往这个地址的每个请求都带的请求头。",
        '{"Authorization": "${TOOLS_TOKEN}"}',
    ),
    "mcp.*.headers.*": ("请求头", "Header", "一个请求头。", "${TOOLS_TOKEN}"),
    "mcp.*.auth": (
        "登录方式",
        "Login",
        "在那里怎么登录：oauth 需要你同意（mnema mcp login），client 用它自己的密钥。",
        "oauth",
    ),
    "mcp.*.client_id": (
        "客户端 ID",
        "Client id",
        "你在那里登记的客户端；空着时由 mnema mcp login 登记。",
        "mnema",
    ),
    "mcp.*.client_secret": ("客户端密钥", "Client secret", "这个客户端的密钥。", "${TOOLS_SECRET}"),
    "mcp.*.issuer": (
        "签发者",
        "Issuer",
        "谁为这个客户端签发登录；auth 为 client 时必填。",
        "https://login.example.org",
    ),
    "mcp.*.local": (
        "本地地址",
        "Local address",
        "地址可以是本机或内网的，也可以不用 TLS。",
        "true",
    ),
    "mcp.*.network": (
        "网络",
        "Network",
        "允许它使用这台机器的网络；关闭时它没有网络（仅限 Linux）。",
        "true",
    ),
    "mcp.*.files": (
        "文件夹",
        "Folders",
        "它在沙箱里看到的文件夹：工作区里的写名字，其他的写完整路径，后面加 :rw 可以写入。"
        '["*"] 表示不用沙箱，机器人能读的它都能读。',
        '["files:rw", "/srv/notes"]',
    ),
    "mcp.*.spaces": (
        "空间",
        "Spaces",
        "除所有者外还有哪些空间可以使用；用 mnema people list 查看。",
        '["telegram-123456789"]',
    ),
    "mcp.*.resources": ("资源", "Resources", "模型可以列出并读取它提供的资源。", "true"),
    "mcp.*.seconds": ("时限", "Time limit", "一次调用最多多少秒。", "120"),
    "plugins": (
        "插件",
        "Plug-ins",
        "按文件名或包名列出插件得到的东西；只能写在这个文件里。文件要用 mnema tools on 启用。",
        '{"weather": {"env": {"WEATHER_KEY": "${WEATHER_KEY}"}}}',
    ),
    "plugins.*.env": (
        "密钥",
        "Secrets",
        "按名称列出的密钥；工具只得到它声明需要的那些。",
        '{"WEATHER_KEY": "${WEATHER_KEY}"}',
    ),
    "plugins.*.env.*": ("密钥", "Secret", "一个密钥。", "${WEATHER_KEY}"),
    "plugins.*.spaces": (
        "空间",
        "Spaces",
        "除所有者外还有哪些空间可以使用；用 mnema people list 查看。",
        '["telegram-123456789"]',
    ),
    "console": ("控制台", "Console", "为控制台保留的内容。", ""),
    "console.titles": (
        "自动起标题",
        "Titles by the model",
        "你的新对话得到第一个回答后，由小模型在后台起一个标题；不开时，标题就是你的第一句话。",
        "true",
    ),
    "console.views_days": (
        "上下文回看天数",
        "Days of past views",
        "上下文检查器能回看多少天：每次请求里模型看到了什么。0 表示不记录。",
        "7",
    ),
    "log": ("程序日志", "Program log", "程序自己的日志，不含消息内容。", ""),
    "log.level": ("日志级别", "Log level", "低于这个级别的不写。重启后生效。", ""),
    "log.max_mb": (
        "日志文件大小",
        "Size of a log file",
        "写满多少 MB 换一个文件。重启后生效。",
        "20",
    ),
    "log.keep": ("日志文件数", "Kept log files", "保留多少个旧的日志文件。重启后生效。", "10"),
    "log.otel": (
        "追踪收集器",
        "Trace collector",
        "接收每条消息追踪数据的 OpenTelemetry 收集器（OTLP/HTTP）的地址。",
        "http://127.0.0.1:4318",
    ),
}

# What each setting of a policy means, in Chinese and in English.
POLICY_SETTING_TEXTS: dict[str, tuple[str, str]] = {
    "window": (
        "按多大的窗口设计；预算更小时各数按比例缩小",
        "window that the numbers are meant for; they shrink with less",
    ),
    "snip_chars": ("工具结果超过多少字符就截短", "characters from which a tool result is snipped"),
    "snip_share": ("截短时头尾各留的比例", "share that stays at either end when snipped"),
    "snip_most": (
        "头尾各自最多留 snip_chars 的几成",
        "most at either end, as a share of snip_chars",
    ),
    "input_chars": ("旧的工具输入留多少字符", "characters left of an old tool input"),
    "result_chars": ("旧的工具结果留多少字符", "characters left of an old tool result"),
    "line_at": (
        "预算用到几成时，旧结果缩成一行",
        "share of the budget at which old results become lines",
    ),
    "batch": (
        "一次至少要省下预算的几成才动手",
        "least share of the budget that one round must save",
    ),
    "spared_results": ("最近几个结果不动", "newest results that are left alone"),
    "fold_at": ("预算用到几成时整理", "share of the budget at which a fold is due"),
    "fold_tokens": ("历史到多少 token 时整理", "tokens of history at which a fold is due"),
    "fold_messages": ("历史到多少条消息时整理", "messages of history at which a fold is due"),
    "least_messages": ("少于多少条消息从不整理", "messages below which nothing is folded"),
    "keep": ("整理后留下几成", "share of the history that stays"),
    "keep_most": ("整理后最多留下几成", "share that may stay at most"),
    "keep_tokens": ("整理后留下多少 token", "tokens that stay"),
    "keep_messages": ("整理后留下多少条消息", "messages that stay"),
    "reach": ("切口可以前后移动多远", "how far the cut may move to a better place"),
    "reach_turns": (
        "另外比较切口前后几轮的结尾",
        "turns on either side of the cut whose ends are compared too",
    ),
    "newest": ("最近几条消息从不整理", "newest messages that are never folded"),
    "most_tokens": ("历史的 token 上限", "most tokens of history"),
    "drop_at": (
        "预算用到几成时立刻整理最早的轮次",
        "share of the budget at which the oldest turns go at once",
    ),
    "every_messages": (
        "每多少条新消息并入一次摘要",
        "new messages after which the summary is updated",
    ),
    "every_tokens": (
        "每多少新 token 并入一次摘要",
        "new tokens after which the summary is updated",
    ),
    "text_only_below": (
        "少于多少轮时只留文字，不整理",
        "turns below which texts stay instead of a fold",
    ),
    "summary_tokens": ("摘要最多多少 token", "most tokens of the summary"),
    "spare": ("丢下轮次时留出多少 token", "tokens left free when turns go"),
    "overflow_turns": (
        "模型嫌请求太长后留下几轮",
        "turns that stay after the model refused a request as too long",
    ),
    "overflow_chars": ("那之后每段最多多少字符", "characters of a text that stay after that"),
}
