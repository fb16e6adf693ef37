"""A week of short messages to a personal assistant on the phone, in Chinese and English, with a
tool now and then.

Messages are as long as such messages are; no size was chosen for a published figure.
"""

from typing import Any

from benchmarks.cases.desk import CHAT_SYSTEM, CHAT_TOOLS
from benchmarks.cases.script import Call, Script
from benchmarks.cases.talk import Said, Talker, Theme

REMIND = "calendar_add"
CHAT = Theme(
    gap="",
    asks=(
        "早",
        "到公司了，{mood}",
        "中午吃{food}好还是{other}好？",
        "{who}又迟到了",
        "在吗",
        "好的",
        "哈哈",
        "晚上要不要去{spot}走走？",
        "今天{mood}",
        "{spot}几点关门来着？",
        "想换个{gadget}，贵不贵？",
        "谢谢",
        "下班了，路上堵车",
        "给{who}回个什么好？",
        "睡不着",
        "can you say that in English?",
        "ok",
        "what should I wear, it is {weather} outside",
        "{gadget}没电了，先不说了",
        "remind me what we said about {other}?",
    ),
    says=(
        "早上好！今天先做最要紧的那件。",
        "{food}吧，清淡一点。",
        "在的。",
        "可以先听听{who}怎么说。",
        "{spot}一般晚上十点关门，去之前看一眼门口的告示。",
        "{gadget}中档的就够用，不必追新。",
        "不客气。",
        "路上小心，不着急。",
        "回一句“收到，明天给你答复”就行。",
        "放下手机，深呼吸几次，或者起来喝口温水。",
        "Sure. In one sentence: it can wait until tomorrow.",
        "A jacket will do; it is {weather} but not cold.",
        "{mood}的时候出去走十分钟，比坐着强。",
        "好，有事叫我。",
        "You only said that you would think about {other}.",
    ),
    words={
        "food": ("馄饨", "米线", "盖饭", "沙拉", "饺子"),
        "other": ("砂锅", "面包", "寿司", "粥"),
        "who": ("小周", "老板", "室友", "快递员", "楼上邻居"),
        "spot": ("江边", "书店", "操场", "超市", "河堤"),
        "mood": ("有点困", "心情不错", "有点烦", "忙死了", "还行"),
        "gadget": ("耳机", "充电宝", "键盘", "台灯"),
        "weather": ("rainy", "windy", "grey", "sunny"),
    },
)
# For each day: how many turns, and those that say something.
WEEK: tuple[tuple[int, tuple[Said, ...]], ...] = (
    (
        19,
        (
            Said(
                at=4,
                user="体检报告出来了，医生说维生素 D 只有 14，每天补 2000 单位",
                reply="记下了：每天 2000 单位。",
                asked=(("医生说我的维生素 D 每天补多少单位？", "2000"),),
            ),
            Said(
                at=9,
                user="对了我妈的新号码 139-0571-8842",
                reply="存好了。",
                asked=(("我妈的新号码是多少？", "139-0571-8842"),),
            ),
            Said(
                at=16,
                user="周四晚上别给我安排事，要去听讲座",
                reply="好，周四晚上空着。",
                asked=(("哪天晚上要去听讲座，别安排事？", "周四"),),
            ),
        ),
    ),
    (
        15,
        (
            Said(
                at=3,
                user="my flight is CZ8301, Saturday morning, terminal 2",
                reply="Noted, I will remind you on Friday evening.",
                asked=(("Which flight do I take from terminal 2?", "CZ8301"),),
            ),
            Said(
                at=8,
                user="酒店订的是湖滨那家，确认号 HB55210",
                reply="好的。",
                asked=(("湖滨酒店的确认号是什么？", "HB55210"),),
            ),
        ),
    ),
    (
        17,
        (
            Said(
                at=5,
                user="小周借了我 480 块，说月底还",
                reply="记下了。",
                asked=(("小周借了我多少，说月底还？", "480"),),
            ),
            Said(
                at=11,
                user="I promised Nadia to bring the red folder on Friday",
                reply="The red folder, for Nadia.",
                asked=(("What did I promise Nadia to bring?", "red folder"),),
            ),
        ),
    ),
    (
        14,
        (
            Said(
                at=2,
                user="讲座改到 B 座 1104 了",
                reply="好，记下了。",
                asked=(("讲座改到 B 座哪个房间？", "1104"),),
            ),
            Said(
                at=10,
                user="讲座好听，主讲人推荐《寂静的春天》",
                reply="那本不厚。",
                asked=(("讲座的主讲人推荐了哪本书？", "寂静的春天"),),
            ),
        ),
    ),
    (
        16,
        (
            Said(
                at=4,
                user="猫该打疫苗了，宠物医院说下周三下午有空，找韩医生",
                reply="下周三下午，韩医生。",
                asked=(("猫打疫苗找宠物医院的哪位医生？", "韩医生"),),
            ),
            Said(
                at=9,
                user="WiFi 密码改成 maple-7719 了",
                reply="好。",
                asked=(("WiFi 密码改成了什么？", "maple-7719"),),
            ),
        ),
    ),
    (
        12,
        (
            Said(
                at=3,
                user="landed. the driver waits at exit C4",
                reply="Good trip!",
                asked=(("At which exit does the driver wait?", "C4"),),
            ),
            Said(
                at=8,
                user="房间在 17 楼，能看到湖",
                reply="真好。",
                asked=(("酒店的房间在几楼，能看到湖？", "17 楼"),),
            ),
        ),
    ),
    (
        13,
        (
            Said(
                at=4,
                user="回程改签到晚上七点四十",
                reply="好，提前两小时出门。",
                asked=(("回程改签到几点？", "七点四十"),),
            ),
            Said(
                at=10,
                user="给室友带了一盒龙井，98 块",
                reply="他会喜欢的。",
                asked=(("给室友带的龙井多少块？", "98 块"),),
            ),
        ),
    ),
)
# After the last message of a day: question, tool, arguments, result, reply, and a probe.
TOOLED = {
    1: (
        "明天要带伞吗？",
        "weather",
        {"city": "上海", "day": "2026-03-03"},
        '{"rain_mm": 12.6, "high": 11}',
        "要带，有中雨，最高十一度。",
        ("明天雨量 rain 多少？要带伞吗？", "12.6"),
    ),
    4: (
        "remind me Friday 20:00 to pack",
        REMIND,
        {"title": "pack", "start": "2026-03-06T20:00"},
        '{"ok": true, "id": "ev-9034"}',
        "Done: Friday at eight in the evening, pack.",
        ("What is the id of the entry to pack on Friday?", "ev-9034"),
    ),
    6: (
        "这附近有什么好吃的？",
        "search_web",
        {"query": "湖滨 晚饭"},
        "1. 桂语山房，杭帮菜，人均 160\n2. 面馆，人均 28",
        "桂语山房不错，杭帮菜，人均一百六。",
        ("附近好吃的杭帮菜是哪家？", "桂语山房"),
    ),
}


def assistant_week() -> dict[str, Any]:
    """The recording."""
    script = Script(name="assistant_week", seed=707, system=CHAT_SYSTEM, tools=CHAT_TOOLS)
    talker = Talker(script.rng, CHAT)
    for day, (turns, told) in enumerate(WEEK, start=1):
        fixed = {item.at: item for item in told}
        for number in range(1, turns + 1):
            script.rest(script.rng.choice((1, 3, 12, 45)))
            item = fixed.get(number)
            if item is None:
                script.turn(
                    talker.question(), reply=talker.answer(script.rng.choice((8, 12, 30, 60)))
                )
                continue
            script.turn(item.user, reply=item.reply)
            for question, answer in item.asked:
                script.ask(question, answer)
        if day in TOOLED:
            said, tool, given, result, reply, (question, answer) = TOOLED[day]
            script.turn(said, Call(tool=tool, input=given, result=result), reply=reply)
            script.ask(question, answer)
        script.rest(540)
    return script.written()
