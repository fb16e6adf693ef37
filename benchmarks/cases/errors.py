"""A test suite that does not even start, then five failing tests, then work that goes on after all
are mended.
"""

import random
from typing import Any

from benchmarks.cases.beats import Beat, play
from benchmarks.cases.desk import TOOLS, system
from benchmarks.cases.script import Script

PROJECT = (
    "`depot` keeps the stock of four warehouses. JavaScript, Jest, a REST API, a nightly import of "
    "the suppliers' lists."
)
BEATS = (
    Beat(
        said="Run the test suite.",
        steps=["fail suite", "read package.json 2500", "bash npm install left-shelf", "test suite"],
        fault="Error: Cannot find module 'left-shelf'",
        reply="The suite could not start: the module 'left-shelf' was not found, a missing "
        "dependency. Installing left-shelf@2.6.1 resolved it. Now five tests fail.",
        asked=[
            (
                "Which version of left-shelf was installed because the module was not found?",
                "left-shelf@2.6.1",
            )
        ],
    ),
    Beat(
        said="Take the five one by one. First the importer.",
        steps=[
            "fail importer",
            "read src/supplier/supplier.importer.js 9000",
            "edit src/supplier/supplier.importer.js 133",
        ],
        change=(
            "rows.forEach(async (row) => save(row));",
            "for (const row of rows) await save(row);",
        ),
        fault="Expected 240 saved rows, received 0",
        reply="It did not wait for the rows to be saved. A loop with await at line 133 of "
        "supplier.importer.js mends it.",
        asked=[
            ("At which line of supplier.importer.js was the loop with await put in?", "line 133")
        ],
    ),
    Beat(
        said="下一个。",
        steps=["fail stock", "read src/stock/stock.reserve.js 8000", "edit test/mocks/clock.js 12"],
        change=("now: () => Date.now(),", "now: () => 1700000000000,"),
        fault="AssertionError: reservation expired 3600 s too early",
        reply=(
            "模拟时钟没有固定，夏令时差了一小时。已更新 test/mocks/clock.js，固定为 1700000000000。"
        ),
        asked=[("模拟时钟固定成了哪个值？", "1700000000000")],
    ),
    Beat(
        said="And the third?",
        steps=["fail price", "search roundHalf 9", "edit src/price/price.round.js 47"],
        change=("Math.round(value * 100) / 100", "roundHalfEven(value, 2)"),
        fault="Expected 10.12, received 10.13",
        reply=(
            "Rounding: finance rounds half to even. `roundHalfEven` in price.round.js does it now."
        ),
        asked=[
            ("Which function rounds half to even for finance in price.round.js?", "roundHalfEven")
        ],
        later=5,
    ),
    Beat(
        said="The fourth and the fifth look alike, don't they?",
        steps=[
            "fail carrier",
            "read test/carrier/carrier.test.js 7000",
            "edit test/mocks/carrier.js 29",
            "test suite",
        ],
        change=("tracking: undefined,", "tracking: 'ZX-00017',"),
        fault="TypeError: Cannot read properties of undefined (reading 'slice')",
        reply="They do: the mock of the carrier lacked a tracking code. With ZX-00017 in it both "
        "pass, and so do all 318 tests.",
        asked=[
            ("Which tracking code did the mock of the carrier lack?", "ZX-00017"),
            ("How many tests pass in all after the fifth was mended?", "318 tests"),
        ],
    ),
    Beat(
        said=(
            "Never mock the database in these tests, by the way; we have been bitten by that. Use "
            "the container."
        ),
        steps=["search mockDatabase 7", "read test/setup.js 6000"],
        fact="const CONTAINER_IMAGE = 'postgres:15.6-alpine'; // the same as in production",
        reply="Understood. Two tests still do; I list them when we are through.",
        asked=[
            (
                "What shall never be mocked in these tests, as we have been bitten by that?",
                "the database",
            ),
            ("Which CONTAINER_IMAGE is the same as in production?", "postgres:15.6-alpine"),
        ],
    ),
    Beat(
        said="Now the new feature: reorder points per warehouse.",
        steps=[
            "read src/warehouse/warehouse.model.js 9500",
            "read src/stock/stock.levels.js 9000",
            "search reorderPoint 11",
        ],
        reply="I would keep them in a table reorder_points with warehouse, article and minimum, "
        "and fill it from the import.",
        asked=[
            ("In which table would the reorder points per warehouse be kept?", "reorder_points")
        ],
    ),
    Beat(
        said="Good. Write the model and the migration.",
        steps=[
            "write src/reorder/reorder.model.js 5000",
            "write migrations/0219.js 1500",
            "fail migrations",
        ],
        fault='error: column "minimum" specified as NOT NULL without default',
        reply="The migration failed on existing rows; with default 0 for `minimum` it runs.",
        asked=[("What default for the column minimum made the migration run?", "default 0")],
        later=7,
    ),
    Beat(
        said="仓库苏州二号的最低库存是 640 件，先写进种子数据。",
        steps=["edit seeds/warehouses.json 71", "test seeds"],
        reply="已写入，测试通过。",
        asked=[("仓库苏州二号的最低库存是多少？", "640 件")],
    ),
    Beat(
        said="How does the import learn of new articles?",
        steps=[
            "read src/supplier/supplier.feed.js 9500",
            "read logs/import.log 9500",
            "search newArticle 9",
        ],
        fact=(
            "2026-03-01T02:14:09.400Z worker-3 import WARN feed of Brandt GmbH delivers 1 388 "
            "articles without a unit"
        ),
        reply=(
            "It compares article numbers. One supplier sends articles without a unit; those are "
            "skipped silently."
        ),
        asked=[("How many articles does the feed of Brandt GmbH deliver without a unit?", "1 388")],
    ),
    Beat(
        said="They should be reported, not skipped. Mail them to einkauf@depot.example.",
        steps=["edit src/supplier/supplier.importer.js 171", "test importer"],
        reply="Each import now ends with one mail that lists them.",
        asked=[("To which address are the skipped articles mailed?", "einkauf@depot.example")],
    ),
    Beat(
        said="Show me the page that would list the reorder points.",
        steps=["read web/reorder/reorder.page.jsx 9500", "read web/lib/table.jsx 9000"],
        reply="The table component sorts on the client and copes with about two thousand rows.",
    ),
    Beat(
        said="Do the sorting on the server then.",
        steps=[
            "edit src/reorder/reorder.routes.js 58",
            "edit web/reorder/reorder.page.jsx 20",
            "test reorder",
        ],
        reply="Sorted in SQL, with the index idx_reorder_article; a page takes 14 ms.",
        asked=[("Which index does sorting on the server use?", "idx_reorder_article")],
    ),
    Beat(
        said="Is the nightly job still inside its window?",
        steps=["read logs/nightly.log 9800", "rows job 25"],
        fact=(
            "2026-03-02T03:51:37.000Z worker-3 nightly INFO import finished after 51 min 37 s, "
            "window 75 min"
        ),
        where=0.96,
        reply="Yes, with some room left.",
        asked=[("After how long was the nightly import finished?", "51 min 37 s")],
    ),
    Beat(
        said="Which of the warehouses has the oldest software on its scanners?",
        steps=["rows scanner 30", "read docs/scanners.md 7000"],
        fact="441907 | Leipzig | fw 3.02 | scanner-118 | 2021-11-04 06:20",
        reply="Leipzig, with firmware from 2021. The others are at 4.",
        asked=[("Which firmware has the scanner in Leipzig?", "fw 3.02")],
    ),
    Beat(
        said="Write down what the tests need, for new people.",
        steps=["write docs/testing.md 4000", "read docs/README.md 5000"],
        reply=(
            "docs/testing.md explains the container, the fixed clock and the mocks; the README "
            "links to it."
        ),
    ),
    Beat(
        said="What about the two tests that still mock?",
        steps=[
            "read test/stock/stock.legacy.js 7500",
            "edit test/stock/stock.legacy.js 9",
            "test stock",
        ],
        reply="Both use the container now; the suite grew slower by 6 seconds.",
    ),
    Beat(
        said="Once more everything, and commit.",
        steps=["test suite", "bash git commit -m reorder"],
        reply="All tests pass. Committed.",
    ),
)


def errors() -> dict[str, Any]:
    """The recording."""
    script = Script(
        name="errors", seed=5, system=system(random.Random(5), 7_000, PROJECT), tools=TOOLS
    )
    play(script, BEATS)
    return script.written()
