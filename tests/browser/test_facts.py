"""Facts in the page: found, explained, corrected and put back, forgotten with a receipt; another's
only once opened.
"""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from bot.models.base import Request
from memory.conversation import Text
from memory.longterm.memories import MemoryCandidate
from memory.store.longterm.rows import MemorySource
from tests.bot.talk import call
from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import ANN, Real, real_bot
from tests.walk.record import query

pytestmark = BROWSER
QUOTE = "Since last week my landlord is Zephyrine Quill."
FACT = "Has the landlord Zephyrine Quill"
NAME = "Zephyrine Quill"
MAX_ROWS, MAX_PAGE = 60, 200
# All that a page says, folded or not, without what was searched for.
READ = "() => document.body.textContent + (document.querySelector('.editor')?.value ?? '')"
READS = f"words => ({READ})().includes(words)"
PAYLOAD = '<img src=x onerror="document.title=1"> **b** \u202egnp'


async def teach(real: Real, page: Page) -> None:
    """Say something in the chat, and note a fact that rests on it."""
    await write(page, QUOTE)
    await page.wait_for_selector(".line.assistant footer")
    row = await real.bot.store.sessions.find("web", "console", "c1")
    assert row is not None
    [message] = await real.bot.store.sessions.messages(row.id, 1, 1)
    source = MemorySource(conversation=row.id, message_id=message.id, channel="web", quote=QUOTE)
    await real.bot.memories("").upsert(
        MemoryCandidate(
            category="fact", text=FACT, importance=7, origin="extraction", source=source
        )
    )


async def test_a_fact_is_found_and_leads_to_the_turn_that_it_rests_on(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "noted") as real,
        opened(chromium, real.site, "/c/c1") as page,
    ):
        await teach(real, page)
        await real.bot.memories("").add("skill", "Speaks Finnish")
        await page.click("#go-memory")
        await expect(page.locator(".fact .text")).to_have_text(["Speaks Finnish", FACT])
        await page.fill("main [type=search]", "landlord")
        await expect(page.locator(".fact .text")).to_have_text([FACT])
        await expect(page.locator(".fact mark")).to_have_text(["landlord"])
        await page.select_option("main form select >> nth=0", "skill")
        await expect(page.locator("main [role=status]")).to_have_text("Nothing found.")
        await page.select_option("main form select >> nth=0", "")
        await page.focus(".fact")
        await page.keyboard.press("Enter")
        await expect(page.locator("blockquote")).to_have_text(QUOTE)
        await page.click("figcaption a")
        await expect(page.locator(".line.user.sought")).to_contain_text("Zephyrine")
        assert page.url.endswith("/c/c1/m/turn-1")


async def test_a_correction_is_taken_back_and_a_stale_one_is_told(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "noted") as real:
        memories = real.bot.memories("")
        row = await memories.add("fact", "Lives in Oslo", 5)
        async with opened(chromium, real.site, f"/memory/facts/{row.id}", ready=".facts") as page:
            await page.click("text=Correct")
            await page.fill("textarea", "Lives in Bergen")
            await page.fill("[type=number]", "9")
            await page.click("text=Save")
            await expect(page.locator("section .text")).to_have_text("Lives in Bergen")
            await expect(page.locator(".rows .former")).to_have_text("Lives in Oslo")
            assert "Lives in Bergen" in (tmp_path / "workspace/MEMORY.md").read_text()
            await page.click(".toast .undo")
            await expect(page.locator("section .text")).to_have_text("Lives in Oslo")
            await expect(page.locator("section .facts")).to_contain_text("5 / 10")
            await page.click("text=Correct")
            await page.fill("textarea", "Lives in Trondheim")
            await real.bot.store.memories.set_importance("", row.norm, 2)
            await page.click("text=Save")
            await expect(page.locator("main [role=alert]")).to_contain_text(
                "changed in the meantime"
            )
            await expect(page.locator("textarea")).to_have_value("Lives in Trondheim")
            await page.click("text=Save")
            await expect(page.locator("section .text")).to_have_text("Lives in Trondheim")


def answering(request: Request) -> object:
    """Rewrite the note when that is asked for, else say little."""
    texts = [part.text for part in request.messages[-1].parts if isinstance(part, Text)]
    if any(text.startswith("tidy") for text in texts):
        return call("edit_file", path="notes/rent.md", old=NAME, new="the landlord")
    return "noted"


def files_with(home: Path, word: str) -> set[str]:
    """Every file of a home that has this word, by its place below the home."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return {str(path.relative_to(home)) for path in files if word.encode() in path.read_bytes()}


def count(real: Real, table: str, column: str) -> int:
    """How many rows of a table name the landlord."""
    [(found,)] = query(
        real.bot.home.db, f"SELECT count(*) FROM {table} WHERE {column} LIKE ?", f"%{NAME}%"
    )
    return int(found)


async def test_what_is_forgotten_is_gone_from_facts_files_search_past_requests_and_blobs(
    chromium: Browser, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "notes").mkdir(parents=True)
    (workspace / "notes" / "rent.md").write_text(f"{NAME} wants the rent on the 3rd\n")
    (workspace / "memory").mkdir()
    log = workspace / "memory" / "2026-11-20.md"
    log.write_text(
        f"## 09:12 · web c1 · turns 1–3 <!-- fold f1 -->\n\n- 09:01 User: {QUOTE}\n- 09:02 User: "
        "sun\n"
    )
    async with (
        real_bot(tmp_path, answering) as real,  # type: ignore[arg-type]
        opened(chromium, real.site, "/c/c1", locale="zh-CN") as page,
        real.site.client() as client,
    ):
        await teach(real, page)
        lease = {
            "name": "lease.txt",
            "mimeType": "text/plain",
            "buffer": f"Landlord: {NAME}".encode(),
        }
        await page.set_input_files("#picker", [lease])  # type: ignore[list-item]
        for number, text in enumerate(("here is my lease", "tidy my notes", "and the weather?"), 2):
            await write(page, text)
            await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(number)
            await real.bot.settled()
        assert NAME not in (workspace / "notes" / "rent.md").read_text()
        await page.click("#go-memory")
        await page.click(".fact")
        await expect(page.locator("blockquote")).to_have_text(QUOTE)
        former = page.url
        await page.click("main .acts .primary")
        await page.fill("textarea", f"Rents from {NAME}")
        await page.click("main [type=submit]")
        await expect(page.locator("section .text")).to_have_text(f"Rents from {NAME}")
        other = await page.context.new_page()
        await other.goto(former)
        await expect(other.locator("main .acts .primary")).to_have_text("恢复")

        showing = [NAME in repr(request) for request in real.model.requests]
        lines = sum(
            NAME in line
            for path in files_with(workspace, NAME)
            for line in (workspace / path).open()
        )
        blobs = {path for path in files_with(tmp_path, NAME) if Path(path).parent.name == "blobs"}
        assert (lines, len(blobs), len(showing)) == (2, 2, 5)
        told = [
            lines,
            count(real, "message", "parts"),
            0,
            count(real, "memory", "text"),
            sum(showing),
            1,
            1,
        ]
        await page.click("main .button")
        await expect(page.locator("fieldset [type=checkbox]")).to_have_count(6)
        forget = page.locator("button.danger")
        await expect(forget).to_be_disabled()
        await page.fill(".confirm input", "忘掉")
        await page.keyboard.press("Enter")
        await expect(page.locator("#receipt dd")).to_have_text([*map(str, told), "✓"])
        assert files_with(tmp_path, NAME) == set()

        await other.click("main .acts .primary")
        await expect(other.locator("main [role=alert]")).to_contain_text("刚被改过")
        await expect(other.locator("main")).to_contain_text("无法恢复")
        await expect(other.locator("main")).not_to_contain_text(NAME)
        await expect(other.locator("main .acts .primary")).to_have_count(0)
        path = f"/api/v1/memory/facts/{former.rpartition('/')[2]}"
        tag = {"if-match": (await client.get(path)).headers["etag"]}
        refused = await client.post(f"{path}/restore", json={}, headers=tag)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "forgotten")

        await page.bring_to_front()  # a page behind another one is drawn once a second
        await page.click("main p a[href='/memory/facts']")
        await expect(page.locator("main [role=status]")).to_be_visible()
        await page.click("main .spans button >> nth=1")
        await expect(page.locator(".fact .text")).to_have_text(["已忘掉"] * 2)
        files = {
            "MEMORY.md": "# ",
            "memory/2026-11-20.md": "sun",
            "notes/rent.md": "the landlord wants",
        }
        past = dict.fromkeys(
            (f"/c/c1/context/{number}" for number in range(1, len(showing) + 1)), "后来被遗忘了"
        )
        shown = (
            {f"/memory/files/{path}": words for path, words in files.items()}
            | past
            | {"/c/c1": "noted"}
        )
        for address, words in (shown | {f"/memory/search?q={NAME}": "没有找到"}).items():
            await page.goto(real.site.base + address)
            await page.wait_for_function(READS, arg=words)
            assert NAME not in await page.evaluate(READ), address


async def test_of_five_thousand_facts_one_page_is_asked_for_and_few_rows_are_drawn(
    chromium: Browser, tmp_path: Path
) -> None:
    memory = tmp_path / "workspace" / "MEMORY.md"
    memory.parent.mkdir()
    memory.write_text(
        "# Memory\n\n## Facts\n\n" + "".join(f"- Owns the book number {n}\n" for n in range(5_000))
    )
    async with (
        real_bot(tmp_path, lambda asked: "noted") as real,
        opened(chromium, real.site, "/usage", ready="[role=tab]", fresh=True) as page,
    ):
        await real.bot.memories("").reconcile()
        asked: list[str] = []
        page.on(
            "request", lambda one: asked.append(one.url) if "/memory/facts?" in one.url else None
        )
        await page.click("#go-memory")
        rows, box = page.locator(".fact"), page.get_by_role("region", name="Facts")
        await expect(rows.first).to_contain_text("Owns the book number")
        assert len(asked) == 1
        assert await rows.count() <= MAX_ROWS
        held = int(
            await page.locator("main [aria-setsize]").first.get_attribute("aria-setsize") or 0
        )
        assert 0 < held <= MAX_PAGE
        for pages in (2, 3):
            await box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
            await expect(
                page.locator(f"main [aria-setsize='{held * pages}']").first
            ).to_be_attached()
            await expect(rows.last).to_be_attached()
            assert len(asked) == pages
            assert await rows.count() <= MAX_ROWS
        await page.fill("main [type=search]", "number 4999")
        await expect(rows).to_have_count(1)
        assert len(asked) == pages + 1


async def test_another_persons_facts_are_shown_once_opened_and_cannot_be_changed(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "noted") as real:
        message = real.telegram.hear("hello", chat=ANN, sender=ANN)
        await real.telegram.until(
            lambda: any(one.reply_to_key == message.key for one in real.telegram.sent)
        )
        space = next(name for name in await real.bot.spaces() if name)
        row = await real.bot.memories(space).add("fact", PAYLOAD)
        async with opened(chromium, real.site, "/memory", ready=".whose") as page:
            await page.select_option(".whose select", space)
            await expect(page.locator(".closed")).to_be_visible()
            assert await real.audited("memory.read.other") == []
            await page.click(".closed button")
            await expect(page.locator(".fact .text")).to_contain_text("<img src=x onerror=")
            await expect(page.locator(".fact .text")).to_contain_text("⟨U+202E⟩")
            await page.click(".fact")
            await expect(page.locator(".banner")).to_be_visible()
            await expect(page.locator("section .facts")).to_be_visible()
            await expect(page.locator("text=Correct")).to_have_count(0)
            assert page.url.endswith(f"/memory/facts/{row.id}?space={space}")
            assert len(await real.audited("memory.read.other")) == 1
