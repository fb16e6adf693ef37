"""Two conversations whose turns weigh differently: dense technical talk, and short daily chat in
Chinese.

The budget seed's example: what is kept of the first is about 5 turns, of the second about 50.
"""

from typing import Any

from benchmarks.cases import code, outputs
from benchmarks.cases.desk import CHAT_SYSTEM, CHAT_TOOLS
from benchmarks.cases.script import Call, Script
from benchmarks.cases.talk import Said, Theme, talk

HEAVY = (
    (
        "We want to split the monolith. Constraint: the module `tariff` stays where it is until "
        "the regulator has approved "
        "the new prices, which is planned for October 14.",
        "Then tariff is the last to move; everything else can be planned around it.",
        (
            (
                "When has the regulator planned to approve the new prices, so that tariff may move?",  # noqa: E501
                "October 14",
            ),
        ),
    ),
    (
        "Here is the order module. Which of its parts would you take out first?",
        "I would take out `shipment` first: it calls nothing else synchronously and has 17 "
        "callers, all through one interface.",
        (("How many callers has shipment, all through one interface?", "17 callers"),),
    ),
    (
        "The same for payments please.",
        "Payments should go third. The lock `pay_run_lock` ties it to the nightly settlement.",
        (("Which lock ties payments to the nightly settlement?", "pay_run_lock"),),
    ),
    (
        "How do the two halves talk to each other in the meantime? We have no message bus yet.",
        (
            "With an outbox table and a relay that polls it every 250 ms. That is enough for 90 "
            "events a second."
        ),
        (("How often does the relay poll the outbox table?", "250 ms"),),
    ),
    (
        "Our database people ask how big that outbox table becomes.",
        "At the present rate 7.4 GB a month, if delivered rows are deleted after three days.",
        (("How big does the outbox table become in a month?", "7.4 GB"),),
    ),
    (
        "I tried the relay on staging and it died with the following.",
        "It is the statement timeout: 5 s is too short for the first "
        "run. With `SET LOCAL statement_timeout = '60s'` the relay gets through.",
        (
            (
                "What setting lets the relay get through after it died of the statement timeout?",
                "statement_timeout = '60s'",
            ),
        ),
    ),
    (
        "Let us talk about versions of events. What do you propose?",
        "A number in the envelope and consumers that accept "
        "the present and the previous one. We call the field `shape`.",
        (("How do we call the field with the version in the envelope of events?", "`shape`"),),
    ),
    (
        "Who owns a schema when two teams use it?",
        "The team that writes it. For `customer` that is team Albatross, by your chart.",
        (("Which team owns the customer schema by the chart?", "Albatross"),),
    ),
    (
        "What does it cost us when the relay is down for an hour?",
        "Nothing is lost; 324,000 events wait, and catching up takes 21 minutes.",
        (("How long does catching up take when the relay was down for an hour?", "21 minutes"),),
    ),
    (
        "Draft the contract test between the halves.",
        "Below. It replays recorded envelopes from the folder contracts/recorded.",
        (
            (
                "In which folder are the recorded envelopes for the contract test?",
                "contracts/recorded",
            ),
        ),
    ),
    (
        "How do we roll back when it goes wrong on the day?",
        "By a flag, not by a deployment: `split.orders.read` goes to off first.",
        (("Which flag goes to off first when we roll back?", "split.orders.read"),),
    ),
    (
        "Which figures should be on the wall that day?",
        "Four: age of the oldest outbox row, relay errors, orders "
        "a minute, and "
        "refusals at the till. The alarm for the age is at 40 seconds.",
        (("At what age of the oldest outbox row is the alarm?", "40 seconds"),),
    ),
    (
        "Write the plan for the week of the move.",
        "Monday to Wednesday rehearsals on copies, Thursday the move at 05:30, Friday nothing.",
        (("At what time on Thursday is the move?", "05:30"),),
    ),
    (
        "And what have we forgotten?",
        "The reports: two of them join orders and tariffs directly, `R-31` and `R-47`.",
        (("Which two reports join orders and tariffs directly?", "`R-31` and `R-47`"),),
    ),
)

DAILY = Theme(
    gap="",
    asks=(
        "今天{place}人好多，{food}还排队，你说要不要换一家？",
        "刚跑完{n}分钟，腿有点酸，要不要拉伸？",
        "晚上想做{food}，{person}不太能吃辣。",
        "{person}说周末去{place}，你觉得带什么好？",
        "昨晚没睡好，今天上班一直犯困。",
        "{pet}又把{thing}打翻了，怎么办。",
        "想看点轻松的，{show}好看吗？",
        "{thing}用了好几年了，是修还是换？",
        "外面又下雨了，{place}估计去不成。",
        "给{person}挑礼物好难，你有主意吗？",
        "中午吃了{food}，现在有点撑。",
        "{person}今天心情不太好，我该说点什么？",
    ),
    says=(
        "{place}下午三点以后人会少一些，晚点去也不迟。",
        "{food}自己在家做也不难，提前把料备好就行。",
        "跑完先慢走几分钟，再拉伸小腿，不要马上坐下。",
        "{person}不吃辣的话，少放辣椒，用姜和葱提味。",
        "周末去{place}记得带伞，早晚温差也不小。",
        "午后小睡一刻钟，比再喝一杯咖啡管用。",
        "{pet}多半是无聊了，换个玩具，{thing}先收高一点。",
        "{show}节奏慢，适合睡前看一两集。",
        "{thing}要是修的钱超过一半价钱，不如换新的。",
        "下雨天就在家煮点{food}，放首喜欢的歌。",
        "礼物不用贵，{person}平时念叨过的小东西最合适。",
        "饭后走一走，过一会儿就不撑了。",
        "先听{person}说完，别急着出主意，陪着就好。",
        "{place}旁边新开了一家店，听说{food}做得不错。",
        "明天天气转好，可以把{thing}拿出去晒晒。",
        "给{pet}添点水，天热它喝得多。",
    ),
    words={
        "place": ("公园", "湖边", "菜市场", "图书馆", "老城区", "植物园", "海边", "夜市"),
        "food": ("番茄面", "饺子", "鱼汤", "蒸蛋", "咖喱饭", "豆腐煲", "炒年糕"),
        "person": ("我妈", "同事", "老同学", "邻居", "室友", "表妹"),
        "pet": ("猫", "狗", "那只小猫"),
        "thing": ("花盆", "台灯", "旧自行车", "电饭锅", "耳机", "雨伞"),
        "show": ("那部老片", "新出的纪录片", "那个美食节目", "那部动画"),
    },
)
TOLD = (
    Said(
        at=3,
        user="对了，我对花生过敏，推荐吃的时候记得。",
        reply="记住了，花生一定避开。",
        asked=(("我对什么过敏？推荐吃的时候要记得。", "花生"),),
    ),
    Said(
        at=9,
        user="我女儿叫知夏，今年上三年级。",
        reply="好名字。",
        asked=(("我女儿叫什么名字？", "知夏"),),
    ),
    Said(
        at=17,
        user="牙医约在四月九号上午十点。",
        reply="到时候提醒自己早点出门。",
        asked=(("牙医约在什么时候？", "四月九号"),),
    ),
    Said(
        at=26,
        user="新自行车的锁，密码我设成了 6052。",
        reply="记下了。",
        asked=(("自行车的锁密码设成了多少？", "6052"),),
        later=20,
    ),
    Said(
        at=34,
        user="我不喝咖啡了，改喝乌龙茶。",
        reply="好，也不容易失眠。",
        asked=(("我不喝咖啡了，改喝什么？", "乌龙茶"),),
    ),
    Said(
        at=45,
        user="十五公里我跑了 1 小时 24 分。",
        reply="进步很大！",
        asked=(("十五公里我跑了多久？", "1 小时 24 分"),),
    ),
    Said(
        at=57,
        user="表弟在苏州开了家书店，叫“半页”。",
        reply="名字很有意思。",
        asked=(("表弟在苏州开的书店叫什么？", "半页"),),
    ),
    Said(
        at=66,
        user="体检的尿酸是 431，医生让少吃海鲜。",
        reply="那鱼汤也要少喝。",
        asked=(("体检的尿酸是多少？", "431"),),
    ),
    Said(
        at=78,
        user="房东说房租从五月起涨到 3650。",
        reply="可以再谈谈。",
        asked=(("房租从五月起涨到多少？", "3650"),),
        later=30,
    ),
    Said(
        at=90,
        user="帮我记一下，车停在 B2 的 117 号。",
        reply="好，B2，117 号。",
        asked=(("车停在 B2 的几号？", "117 号"),),
    ),
    Said(
        at=104,
        user="读书会这个月读的是《看不见的城市》。",
        reply="很薄，一周能读完。",
        asked=(("读书会这个月读的是哪本书？", "看不见的城市"),),
    ),
    Said(
        at=116,
        user="我决定报名十月的半程，号码布是 A2209。",
        reply="那训练可以排起来了。",
        asked=(("十月半程的号码布是多少？", "A2209"),),
    ),
    Said(
        at=124,
        user="蛋糕订好了，周六下午五点去南门取。",
        reply="记得带单子。",
        asked=(("蛋糕周六下午五点去哪里取？", "南门"),),
    ),
)
TURNS, CHARS = 130, (250, 320)


def heavy() -> dict[str, Any]:
    """The dense one, in English: what is pasted and what is answered have about 3,000 tokens a
    turn.
    """
    script = Script(name="heavy", seed=3_000, system=CHAT_SYSTEM)
    rng = script.rng
    for number, (said, answer, asked) in enumerate(HEAVY):
        thing, other = code.THINGS[number * 2], code.THINGS[number * 2 + 1]
        pasted = code.python(rng, thing, 2_600) if number % 2 else outputs.log(rng, thing, 2_100)
        made = "\n".join(
            f"{place}. {outputs.prose(rng)} {rng.choice(code.WHYS)}" for place in range(1, 15)
        )
        written = code.javascript(rng, other, 5_300, typed=True)
        script.turn(
            f"{said}\n\n```\n{pasted}\n```",
            reply=f"{answer}\n\n{made}\n\n```ts\n{written}\n```\n\n{outputs.prose(rng)}",
        )
        for question, literal in asked:
            script.ask(question, literal)
    return script.written()


def light() -> dict[str, Any]:
    """The daily one: about 300 tokens a turn, now and then a tool."""
    script = Script(name="light", seed=300, system=CHAT_SYSTEM, tools=CHAT_TOOLS)
    talk(script, DAILY, TURNS - 2, CHARS, TOLD)
    rain = Call(
        tool="weather",
        input={"city": "杭州", "day": "2026-03-04"},
        result='{"high": 13, "low": 8, "rain_mm": 21.7}',
    )
    script.turn("明天杭州要下雨吗？", rain, reply="会下，雨量不小，最高十三度，带伞。")
    script.ask("明天杭州的雨量 rain 是多少？", "21.7")
    entry = Call(
        tool="calendar_add",
        input={"title": "取蛋糕", "start": "2026-03-07T17:00"},
        result='{"ok": true, "id": "ev-5518"}',
    )
    script.turn("把取蛋糕加进日历。", entry, reply="已加好。")
    script.ask("取蛋糕的日历 id 是什么？", "ev-5518")
    return script.written()
