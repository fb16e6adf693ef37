"""The second half of the long session: what was said and done from its seventeenth turn on."""

from benchmarks.cases.beats import Beat

LATER = (
    Beat(
        said="What does the parcel provider do with our webhooks meanwhile? Read their side of it.",
        big=(
            "https://docs.parcels.example/webhooks 7900",
            "src/parcel/parcel.client.ts 7900",
            "src/carrier/carrier.rules.ts 7900",
        ),
        fact="Deliveries are repeated seven times over 19 hours, after that the endpoint is "
        "switched off until it is confirmed anew.",
        where=0.5,
        steps=(
            "search parcelSignature 10",
            "read src/receipt/receipt.loader.ts 7900",
        ),
        reply=(
            "They repeat a delivery seven times, then switch the endpoint off. We should alert "
            "well before that."
        ),
        asked=(
            (
                (
                    "Over how many hours does the parcel provider repeat deliveries before the "
                    "endpoint is switched off?"
                ),
                "19 hours",
            ),
        ),
        told=3550,
    ),
    Beat(
        said="Then add an alert after the third failure. Nora is on call for it, not me.",
        big=(
            "src/alert/alert.rules.ts 7900",
            "src/alert/alert.channel.ts 7900",
        ),
        steps=(
            "edit src/alert/alert.rules.ts 203",
            "test alert rules",
        ),
        reply="The rule `parcel-endpoint-failing` fires at the third failure and pages Nora.",
        asked=(
            ("Who is on call for the parcel endpoint alert?", "Nora"),
            (
                "What is the name of the rule that fires at the third failure?",
                "parcel-endpoint-failing",
            ),
        ),
        told=3550,
    ),
    Beat(
        said="Run everything. I want to see the whole suite before we go on.",
        big=(
            "test-output/all.log 4740",
            "test-output/slow.log 4740",
        ),
        steps=(
            "fail all",
            "search flakyTimer 5",
            "edit src/event/event.sorter.ts 141",
            "read src/queue/queue.loader.ts 7900",
        ),
        reply="One failure in 1,204 tests: the sorter used the real clock. I gave it the injected "
        "one, and the suite is green "
        "in 94 seconds.",
        asked=(("How long does the whole suite take when green?", "94 seconds"),),
        told=3550,
    ),
    Beat(
        said="Is the refund job safe to run for those orders from Friday?",
        big=(
            "src/refund/refund.job.ts 7900",
            "src/refund/refund.policy.ts 7900",
        ),
        fact="const MAX_REFUNDS_PER_RUN = 60; // agreed with the bank in 2024",
        where=0.5,
        steps=(
            "search refundBatch 8",
            "rows refund 12",
        ),
        reply=(
            "Yes, with one limit: a run refunds at most so many as the bank agreed to, so it takes "
            "three runs."
        ),
        asked=(("When was MAX_REFUNDS_PER_RUN agreed with the bank?", "in 2024"),),
        told=3550,
    ),
    Beat(
        said="Prepare it as a dry run and show me the first rows.",
        big=(
            "src/refund/refund.report.ts 7900",
            "tmp/refund-dry-run.csv 6715",
        ),
        steps=(
            "bash npm run refund -- --dry",
            "rows refund 18",
            "read src/lock/lock.loader.ts 7900",
        ),
        reply="The dry run lists what would be refunded and finds two orders that were refunded by "
        "hand: B-20817 and B-20844.",
        asked=(
            (
                "Which two orders had been refunded by hand according to the dry run?",
                "B-20817 and B-20844",
            ),
        ),
        told=3550,
    ),
    Beat(
        said="Leave those two out. And write the runbook, short, for the people on call.",
        big=(
            "docs/runbook.md 7900",
            "docs/oncall.md 7900",
        ),
        steps=("write docs/runbook-refunds.md 4000",),
        reply="The runbook has five steps; both orders are in `refund.exclude.json`. It says to "
        "stop when a run takes over "
        "12 minutes.",
        asked=(
            (
                "In which file are the orders listed that the refund leaves out?",
                "refund.exclude.json",
            ),
            ("At what duration of a run does the runbook say to stop?", "12 minutes"),
        ),
        told=3550,
    ),
    Beat(
        said="The page of the order shows the wrong state after a refund. Why?",
        big=(
            "web/order/order.page.tsx 20000",
            "web/order/order.hooks.ts 7900",
        ),
        steps=(
            "search useOrderState 9",
            "read src/profile/profile.loader.ts 7900",
        ),
        reply=(
            "The hook caches by order id alone. After a refund the revision rises, so the key "
            "needs it as well."
        ),
        told=3550,
    ),
    Beat(
        said="Fix it, with a test that fails without the fix.",
        big=("web/order/order.cache.ts 20000",),
        steps=(
            "edit web/order/order.hooks.ts 64",
            "test order hooks",
        ),
        reply="Fixed in line 64; the new test fails on the old code and passes now.",
        asked=(("In which line of the order hooks was the wrong state fixed?", "line 64"),),
        told=3550,
    ),
    Beat(
        said="How much would it cost to keep the events for two years instead of one?",
        big=(
            "docs/storage.md 20000",
            "config/retention.json 5925",
        ),
        fact='  "eventBytesPerDay": 734003200,',
        where=0.15,
        steps=(
            "rows event 8",
            "read src/permission/permission.loader.ts 7900",
        ),
        reply=(
            "About 700 MB a day, so 250 GB more for the second year; at the current price 31.50 "
            "EUR a month."
        ),
        asked=(("What would keeping the events for the second year cost a month?", "31.50 EUR"),),
        told=3550,
    ),
    Beat(
        said="Not worth a discussion, do it. Retention goes to 730 days.",
        big=("src/retention/retention.job.ts 7900",),
        steps=(
            "edit config/retention.json 9",
            "test retention job",
        ),
        reply="Set and tested. The job's first long run will come in a year.",
        told=3550,
    ),
    Beat(
        said="Security asked which secrets this service reads. List them by name only.",
        big=(
            "src/secret/secret.loader.ts 20000",
            "config/secrets.json 5925",
        ),
        steps=(
            "search readSecret 10",
            "read src/event/event.loader.ts 7900",
        ),
        reply=(
            "Four: PAY_API_KEY, PARCEL_HOOK_SECRET, DB_URL and the unused LEGACY_FTP_PASS, which "
            "could go."
        ),
        asked=(("Which secret is unused and could go?", "LEGACY_FTP_PASS"),),
        later=4,
        told=3550,
    ),
    Beat(
        said="Remove the unused one everywhere.",
        big=("deploy/values.json 15000",),
        steps=(
            "edit config/secrets.json 22",
            "edit deploy/values.json 87",
            "test secret loader",
        ),
        reply="Gone from the loader, the settings and the deployment's values.",
        told=3550,
    ),
    Beat(
        said="Write the changelog for all of this. Version 4.18.0.",
        big=("CHANGELOG.md 20000",),
        steps=(
            "bash git log --oneline -40",
            "edit CHANGELOG.md 3",
            "read src/retry/retry.loader.ts 7900",
        ),
        reply="The entry for 4.18.0 names the key, the sorter, the bound on the cache, the alert "
        "and the refund's runbook.",
        asked=(("Which version is the changelog entry for?", "4.18.0"),),
        told=3550,
    ),
    Beat(
        said="Anything left open?",
        big=("docs/open.md 7900",),
        steps=("search laterOn 6",),
        reply="Three things: the parcel client has no timeout, staging lacks the alert, and ticket "
        "PAY-993 waits for the bank.",
        asked=(("Which ticket waits for the bank?", "PAY-993"),),
        told=3550,
    ),
    Beat(
        said="Give the parcel client a timeout of 6 seconds then.",
        big=("src/parcel/parcel.http.ts 7900",),
        steps=(
            "edit src/parcel/parcel.client.ts 45",
            "test parcel client",
            "read src/tariff/tariff.loader.ts 7900",
        ),
        reply="Done, with a test against a server that never answers.",
        told=3550,
    ),
    Beat(
        said="Commit it all and tell me in two sentences what changed since this morning.",
        big=(),
        steps=(
            "bash git status --short",
            "bash git commit -m checkout",
        ),
        reply="A payment is captured once, whatever is retried, and webhooks are handled in the "
        "order they were sent. The "
        "memory of the worker is bounded, and the refunds can be run by whoever is on call.",
        told=3550,
    ),
)
