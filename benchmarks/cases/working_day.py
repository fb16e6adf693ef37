"""A mixed working day of one person, half Chinese, half English: reading, edits, tests, long
pastes, small talk.

Files and pastes are as long as such texts are; no size was chosen for a published figure.
"""

import random
from collections.abc import Callable
from typing import Any

from benchmarks.cases import code, outputs
from benchmarks.cases.beats import Beat, play
from benchmarks.cases.desk import TOOLS, system
from benchmarks.cases.script import Script

PROJECT = (
    "`mooring` books berths in small harbours. TypeScript, a REST API, PostgreSQL, a page for the "
    "harbour masters; two people work on it, in English and Chinese."
)
MORNING = (
    Beat(
        said="早，今天先看昨晚的定时任务有没有跑完。",
        steps=["read logs/nightly.log 6500"],
        fact=(
            "2026-03-01T03:12:44.000Z worker-3 nightly WARN 27 reminders were skipped, no e-mail "
            "address"
        ),
        reply="跑完了，用时正常；有一批提醒因为没有邮箱被跳过。",
        asked=[("昨晚有多少 reminders were skipped？", "27 reminders")],
    ),
    Beat(said="好，先放着。泡杯茶。", reply="好的，慢用。"),
    Beat(
        said="Please look at how a berth gets its price. Marina Korsholm says the bill was wrong.",
        steps=[
            "search berthPrice 9",
            "read src/price/price.berth.ts 5200",
            "read src/price/price.season.ts 2600",
        ],
        fact="export const KORSHOLM_SURCHARGE = 0.085; // agreed in writing, see contract 2025-118",
        reply="The season is taken from the day of booking, not from the day of arrival. For a "
        "booking in April that arrives in June the low price is charged.",
        asked=[("What is the KORSHOLM_SURCHARGE, agreed in writing?", "0.085")],
    ),
    Beat(
        said="Fix that. The day of arrival counts.",
        steps=["fail price", "edit src/price/price.berth.ts 61", "test price"],
        change=("seasonOf(booking.createdAt)", "seasonOf(booking.arrivesOn)"),
        fault="Expected 310.00, received 248.00",
        reply="Done at line 61; the test for an April booking now expects 310.00.",
        asked=[("At which line of price.berth.ts was the season fixed?", "line 61")],
    ),
    Beat(
        said="几张账单受影响？",
        steps=["rows booking 14"],
        reply="一共 63 张，都是四月订、六月到的，少收了 4,218 欧。",
        asked=[("少收了多少欧？账单受影响的有几张？", "4,218")],
    ),
    Beat(said="还好不多。我去和他们说，你继续。", reply="好。要我先把名单导出来吗？"),
    Beat(
        said="导出来，放到 exports/korsholm-march.csv。",
        steps=["bash psql mooring --csv -f sql/korsholm.sql"],
        reply="已导出到 exports/korsholm-march.csv，63 行。",
    ),
)
PASTES = (
    (
        "Here is what their accountant sent, in full. What do they want from us?",
        "page",
        5_200,
        "They want a corrected invoice for each booking before the 19th, and nothing by telephone. "
        "Their reference is KOR-7741.",
        (("What is the reference of the accountant, who wants corrected invoices?", "KOR-7741"),),
    ),
    (
        "我把客户那边的导入脚本贴过来，你看看哪里慢。",
        "python",
        7_800,
        "慢在每一行都单独提交一次；改成每 500 行提交一次，他们那台机器大约从 40 分钟降到 3 分钟。",
        (("导入脚本改成每多少行提交一次？", "每 500 行"),),
    ),
    (
        (
            "This is the draft of the new contract text for winter storage. Anything in it that "
            "our data model cannot do?"
        ),
        "page",
        9_400,
        (
            "One thing: it lets two boats share a berth from November on. We store one boat each, "
            "in `berth.boat_id`."
        ),
        (
            (
                "Which column stores one boat per berth, so that two boats cannot share it?",
                "berth.boat_id",
            ),
        ),
    ),
    (
        "测试机上的日志，最后那几行是什么意思？",
        "log",
        23_000,
        "磁盘满了：/var/lib/mooring/tmp 里有 31 GB 没删掉的上传分片。",
        (("测试机磁盘满了，哪个目录里有没删掉的上传分片？", "/var/lib/mooring/tmp"),),
    ),
)
NOON = (
    Beat(
        said="Tests of the calendar are red on main, can you see why?",
        steps=[
            "fail calendar",
            "read test/calendar/calendar.test.ts 4300",
            "edit test/calendar/calendar.test.ts 18",
        ],
        change=("new Date('2026-03-29')", "utcDate(2026, 3, 29)"),
        fault="Expected 29 March, received 28 March",
        reply=(
            "The change to summer time: a local date was one day early. The test now uses utcDate."
        ),
        asked=[
            (
                "What does the calendar test use now, since the local date was one day early?",
                "utcDate",
            )
        ],
    ),
    Beat(said="Nice. Lunch, back in an hour.", reply="Enjoy your lunch.", away=1),
    Beat(
        said="回来了。下午三点和港口的人开会，提醒我说冬季的事。",
        reply="记下了：三点的会，要说冬季停泊。",
        away=58,
    ),
    Beat(
        said="What would it take to let two boats share a berth?",
        steps=[
            "read src/berth/berth.model.ts 3900",
            "search boatId 12",
            "read migrations/0088.ts 1200",
        ],
        reply="A table of its own, berth_occupancy, with a range of dates and an exclusion "
        "constraint; 12 places read the old column. I would guess two days.",
        asked=[("In which table of its own would two boats share a berth?", "berth_occupancy")],
    ),
    Beat(
        said="两天太久了，先只做数据模型，页面以后再说。",
        reply="那就先做表和迁移，旧的列留着，两边同时写。",
    ),
    Beat(
        said="Write the migration.",
        steps=["write migrations/0089.ts 1700", "fail migrations", "edit migrations/0089.ts 23"],
        change=("EXCLUDE USING gist", "EXCLUDE USING gist (berth_id WITH =, period WITH &&)"),
        fault='error: data type integer has no default operator class for access method "gist"',
        reply="It needed the extension btree_gist, which 0089 now creates first.",
        asked=[("Which extension did the migration with gist need?", "btree_gist")],
    ),
    Beat(said="Good.", reply="Shall I go on with the double writing?"),
    Beat(
        said="Yes.",
        steps=[
            "read src/berth/berth.store.ts 4100",
            "edit src/berth/berth.store.ts 77",
            "test berth",
        ],
        reply="Every assignment now also writes a row of the new table; 41 tests pass.",
    ),
    Beat(
        said="会开完了。他们要 10 月 20 日上线，不能晚。",
        reply="好，10 月 20 日，那还有余地。",
        away=47,
        asked=[("港口的人要求几月几日上线？", "10 月 20 日")],
    ),
    Beat(said="另外海娜想要每周一封邮件，列出空的泊位。", reply="可以，周一早上七点发。发给谁？"),
    Beat(
        said="发给 haina@korsholm.example，抄送我。",
        steps=["write src/mail/mail.weekly.ts 1900", "test mail"],
        reply="已写好并测试：每周一 07:00，收件人 haina@korsholm.example，抄送你。",
        asked=[("每周列出空泊位的邮件发给谁？", "haina@korsholm.example")],
    ),
)
EVENING = (
    Beat(
        said="Which of our libraries have to be updated this week?",
        steps=["read package.json 2200", "bash npm outdated"],
        fact="fast-tide 2.1.0 2.1.9 security: path traversal in static files",
        reply="Only fast-tide matters: its update closes a security hole. The others are cosmetic.",
        asked=[("Which version of fast-tide has the security fix for path traversal?", "2.1.9")],
    ),
    Beat(
        said="更新它，跑一遍测试。",
        steps=["bash npm install fast-tide@latest", "test all"],
        reply="已更新，全部通过。",
    ),
    Beat(said="有点累了，窗外在下雪。", reply="歇一会儿吧，剩下的都不急。"),
    Beat(
        said="你说得对。明天要做什么，帮我列一下。",
        reply="一、页面改用新表；二、旧列停写；三、给 Korsholm 的更正发票。",
    ),
    Beat(
        said="One more: the harbour page loads slowly on the phone.",
        steps=["read web/harbour/harbour.page.tsx 5600"],
        reply=(
            "It asks for each berth by itself: 84 requests. One request for all of them would do."
        ),
        asked=[
            (
                "How many requests does the harbour page make on the phone, one for each berth?",
                "84 requests",
            )
        ],
    ),
    Beat(
        said="Do that now, it is small.",
        steps=[
            "edit web/harbour/harbour.page.tsx 31",
            "edit src/berth/berth.routes.ts 52",
            "test harbour",
        ],
        reply="One request, 190 ms instead of 2.9 s on the test phone.",
    ),
    Beat(
        said="Perfect. Commit everything.",
        steps=["bash git commit -m winter-storage"],
        reply="Committed as 9f41c7e.",
        asked=[("As which commit was everything committed?", "9f41c7e")],
    ),
    Beat(said="今天就到这里，谢谢！", reply="辛苦了，明天见。"),
)


FILES = 2.5  # an ordinary source file has about 10,000 characters


def working_day() -> dict[str, Any]:
    """The recording."""
    script = Script(
        name="working_day", seed=77, system=system(random.Random(77), 4_000, PROJECT), tools=TOOLS
    )
    rng = random.Random(78)
    play(script, MORNING, small=FILES)
    for said, kind, chars, reply, asked in PASTES[:2]:
        _paste(script, rng, said, kind, chars, reply, asked)
    play(script, NOON, small=FILES)
    for said, kind, chars, reply, asked in PASTES[2:]:
        _paste(script, rng, said, kind, chars, reply, asked)
    play(script, EVENING, small=FILES)
    return script.written()


def _paste(
    script: Script,
    rng: random.Random,
    said: str,
    kind: str,
    chars: int,
    reply: str,
    asked: tuple[tuple[str, str], ...],
) -> None:
    """Append a turn in which a person pastes a long text."""
    thing = rng.choice(code.THINGS)
    makers: dict[str, Callable[[random.Random, str, int], str]] = {
        "log": outputs.log,
        "python": code.python,
        "page": outputs.page,
    }
    made = makers[kind](rng, thing, chars)
    script.turn(f"{said}\n\n{made}", reply=reply)
    for question, answer in asked:
        script.ask(question, answer)
