"""Different words for the same thing in notes about a person, and words that a note says as much without."""

DENY, CLAUSE, NOTHING = "¬", ",", ""
"""What denies all that follows in its clause; what ends a clause; what may be left out."""
PLAN, FORMER, PERHAPS, ONLY, OFF = "«plan»", "«former»", "«perhaps»", "«only»", "«off»"
MOODS = frozenset({PLAN, FORMER, PERHAPS, ONLY, OFF})
"""A line that has one is never the same as a line that has not."""

_ENGLISH = {
    DENY: (
        "not|no|none|never|neither|nor|without|unable|unlike|cannot|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|"
        "won't|wouldn't|can't|couldn't|shouldn't|haven't|hasn't|hadn't|no longer|not any more|not anymore|stop|stops|"
        "stopped|quit|quits|avoid|avoids|avoided|refuse|refuses|refused|rarely|seldom|hardly ever|rather than|"
        "instead of"
    ),
    f"{DENY} like": "dislike|dislikes|disliked|hate|hates|hated|detest|detests",
    CLAUSE: "but|however|although|though|whereas|instead",
    PLAN: (
        "want to|wants to|wanted to|would like to|would love to|plan to|plans to|planned to|planning to|intends to|"
        "hopes to|wishes to|going to"
    ),
    FORMER: "used to|formerly|previously|in the past",
    PERHAPS: "maybe|perhaps|possibly|might",
    ONLY: "only|solely|exclusively",
    OFF: "off",
    "like": "likes|liked|liking|love|loves|loved|enjoy|enjoys|enjoyed|prefer|prefers|preferred|fond",
    "mother": "mom|mum|mommy|mama",
    "father": "dad|daddy|papa",
    "child": "children|kid|kids",
    "bike": "bikes|bicycle|bicycles",
    "answer": "answers|answering|reply|replies|replying|respond|responds|response|responses",
    "job": "occupation|profession",
    "film": "films|movie|movies",
    "email": "emails|mail|mails",
    "公里": "km|kms|kilometer|kilometers|kilometre|kilometres",
    "公斤": "kg|kgs|kilo|kilos|kilogram|kilograms",
    "live": "lives|lived|living|reside|resides",
    "run": "runs|ran|running",
    "write": "writes|wrote|written|writing",
    "drink": "drinks|drank|drunk|drinking",
    "eat": "eats|ate|eaten|eating",
    "buy": "buys|bought|buying",
    "drive": "drives|drove|driven|driving",
    "speak": "speaks|spoke|spoken|speaking",
    "teach": "teaches|taught|teaching",
    "take": "takes|took|taken|taking",
    "go": "goes|went|gone|going",
    "man": "men",
    "woman": "women",
    "person": "people|persons",
    "daily": "every day|each day|everyday",
    "week": "weekly|every week|each week|per week",
    "month": "monthly|every month|each month|per month",
    "year": "yearly|annually|every year|each year|per year",
    "1": "once",
    "2": "two|twice",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
    "10": "ten",
    "11": "eleven",
    "12": "twelve",
    "15": "fifteen",
    "20": "twenty",
    "30": "thirty",
    "40": "forty",
    "50": "fifty",
    "60": "sixty",
    "70": "seventy",
    "80": "eighty",
    "90": "ninety",
    "100": "hundred",
    "allergic": "allergy|allergies",
    NOTHING: (
        "a|an|the|and|or|also|too|of|in|at|for|with|as|by|into|i|me|my|mine|myself|we|our|us|he|him|his|she|her|hers|they|"
        "them|their|it|its|you|your|user|users|is|am|are|was|were|be|been|being|do|does|did|done|have|has|had|having|"
        "will|would|can|could|should|shall|may|must|this|that|these|those|there|which|who|please|kindly|very|really|"
        "quite|so|just|always|often|usually|generally|normally|typically|currently|now|called|named|name|about|on"
    ),
}
ENGLISH = {form: word for word, forms in _ENGLISH.items() for form in forms.split("|")}
"""What to read for a word or phrase in lower case."""

_CHINESE = {
    DENY: (
        "不 从来不 从来没有 从来没 从不 从未 从没 没有 没 未 勿 别 别再 不再 不要再 不要 不用 无法 无 戒掉 戒了 戒 "
        "停止 拒绝 避免 很少 而不是 而非"
    ),
    f"{DENY}喜欢": "讨厌 厌恶 反感",
    CLAUSE: "但是 但 可是 然而",
    PLAN: "打算 想要 想学 想去 想买 将要 计划去 计划在 准备去 准备在",
    FORMER: "以前 从前 曾经 曾 过去 原先 原来",
    PERHAPS: "可能 也许 大概 或许",
    ONLY: "只有 只在 只 仅仅 仅",
    "喜欢": "喜爱 热爱 爱好 钟爱 偏爱 偏好 爱",
    "用": "使用 采用 选用 运用",
    "住": "居住 定居",
    "工作": "上班 任职 就职 供职",
    "妈": "妈妈 母亲 老妈",
    "爸": "爸爸 父亲 老爸",
    "妻": "妻子 老婆 太太",
    "夫": "丈夫 老公",
    "孩": "孩子 小孩 小孩子",
    "每天": "天天 每日 每一天",
    "周": "星期 礼拜",
    "早上": "早晨 清晨 清早",
    "晚上": "夜里 晚间 夜晚",
    "公里": "千米",
    "公斤": "千克",
    "跑": "跑步",
    "学": "学习",
    "答": "回答 回复 答复",
    "短": "简短 简洁 简要 精简",
    "细": "详细 详尽 仔细",
    NOTHING: (
        "用户 我们 和 与 以及 及 我 他 她 您 本人 自己 目前 现在 正在 如今 的时候 位于 名叫 叫做 叫 名为 名字是 常常 "
        "经常 通常 平时 常 总是 一般 一下 一些 一点 一个 一名 一位 一只 一条 一辆 一家 一种 希望 请 麻烦 务必 非常 "
        "十分 特别 比较 挺 很 最 都 也 了 的 地 得 着 吗 呢 吧 啊 是 在 于 会 能够 能 可以 有 已经 已 就 对 要"
    ),
}
CHINESE = {form: word for word, forms in _CHINESE.items() for form in forms.split()}
"""What to read for these characters, but for `WHOLE` words."""

_WHOLE = (
    "不错 不同 不仅 不但 不只 不管 不论 不断 不久 不少 不锈钢 不得不 差不多 对不起 不好意思 了不起 说不定 没关系 "
    "没问题 别人 分别 类别 级别 性别 区别 告别 别墅 别名 个别 别克 无论 无线 无锡 无人机 无糖 无业 未来 戒指 成都 "
    "首都 都市 社会 会议 开会 会计 机会 晚会 了解 目的 目的地 最近 自我 觉得 获得 地方 地址 地图 基地 当地 场地 土地 "
    "地铁 叫醒 请假 申请 邀请 于是 存在 有限 有趣 所有 拥有 能力 能源 功能 性能 智能 可能性 对象 对手 对话 反对 面对 "
    "绝对 相对 要求 重要 需要 主要 必要 摘要 就业 成就 着急 可爱 恋爱 爱情 爱人 爱尔兰 爱丁堡 只是 停车 名词 常识 "
    "常州 日常 正常 异常 足迹"
)
WHOLE = frozenset(_WHOLE.split())
"""Words that are read sign by sign, whatever shorter one is in them."""
