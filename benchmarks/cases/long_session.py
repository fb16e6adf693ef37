"""Three quarters of an hour with a programmer's assistant: 32 turns, large files, until the window
would be too small.

The sizes are those the layers seed gives: about 287,000 tokens in all, 200,000 of them by turn 22.
"""

import random
from typing import Any

from benchmarks.cases.beats import Beat, play
from benchmarks.cases.desk import TOOLS, system
from benchmarks.cases.long_session_later import LATER
from benchmarks.cases.script import Script

PROJECT = (
    "`checkout` takes the orders of a web shop and has them paid. TypeScript on Node, PostgreSQL, "
    "a queue for webhooks. "
    "Two providers of payments, one of parcels. It is deployed by a pipeline; nobody deploys by "
    "hand."
)
MINUTES = 45


BEATS = (
    Beat(
        said="Customers complain that they were charged twice last Friday. Find out how that can "
        "happen. One thing first: "
        "never touch the table ledger_entries directly, finance reconciles it by hand.",
        big=(
            "src/payment/payment.service.ts 31000",
            "src/order/order.controller.ts 400",
        ),
        steps=(
            "search capturePayment 4",
            "rows order 3",
        ),
        reply="The controller retries the capture when the provider takes more than 8 seconds, and "
        "nothing ties the second "
        "call to the first. I have not changed anything yet. `ledger_entries` stays untouched.",
        asked=(
            (
                (
                    "Which database table must never be touched directly because finance "
                    "reconciles it by hand?"
                ),
                "ledger_entries",
            ),
            (
                "After how many seconds without an answer does the controller retry the capture?",
                "8 seconds",
            ),
        ),
        told=10600,
    ),
    Beat(
        said="How many customers were hit on Friday? Look into the provider's log.",
        big=(
            "logs/provider.log 18600",
            "logs/checkout.log 240",
        ),
        fact="2026-02-27T19:42:10.118Z worker-4 provider WARN duplicate capture report: 137 orders "
        "affected, refund total 9 412.60 EUR",
        where=0.03,
        steps=("search duplicateCapture 3",),
        reply=(
            "The provider's own report at the head of the log counts them: 137 orders, 9 412.60 "
            "EUR to be refunded."
        ),
        asked=(
            ("How many orders were affected by the duplicate capture on Friday?", "137 orders"),
            ("What is the refund total in EUR of the duplicate captures?", "9 412.60"),
        ),
        told=10600,
    ),
    Beat(
        said="Is there any notion of an idempotency key in the code base?",
        big=(
            "src/webhook/webhook.worker.ts 31000",
            "src/queue/queue.client.ts 400",
        ),
        fact="// idempotency keys are honoured by the provider for 26 hours, see their changelog",
        where=0.5,
        steps=(
            "search idempotencyKey 3",
            "search retryCapture 3",
        ),
        reply=(
            "Only the webhook worker knows one, and it makes a new one at each attempt, which "
            "defeats it."
        ),
        asked=(("For how long are idempotency keys honoured by the provider?", "26 hours"),),
        told=10600,
    ),
    Beat(
        said="Then make the key from the order and the attempt's cause, not from the time. We "
        "decided in the team to call "
        "the header X-Checkout-Once.",
        big=("src/payment/payment.client.ts 400",),
        steps=(
            "edit src/payment/payment.client.ts 88",
            "test payment client",
        ),
        reply=(
            "The key is now a hash of order id and cause, sent as `X-Checkout-Once`; the tests of "
            "the client pass."
        ),
        asked=(
            (
                "What did the team decide to call the header that carries the idempotency key?",
                "X-Checkout-Once",
            ),
        ),
        told=10600,
    ),
    Beat(
        said="Read the provider's documentation about keys to be sure.",
        big=(
            "https://docs.payments.example/idempotency 31000",
            "https://docs.payments.example/errors 400",
        ),
        fact=(
            "Keys longer than 64 characters are cut without notice, which makes two different "
            "requests look alike."
        ),
        where=0.45,
        steps=(),
        reply=(
            "One trap: keys over 64 characters are cut without notice. Ours has 71, so I would "
            "shorten the hash."
        ),
        asked=(
            (
                "What is the length above which the provider cuts idempotency keys without notice?",
                "64 characters",
            ),
        ),
        later=8,
        told=10600,
    ),
    Beat(
        said="Yes, shorten it to 40 hex digits and run the payment tests.",
        big=("src/payment/payment.hash.ts 400",),
        steps=(
            "edit src/payment/payment.hash.ts 31",
            "fail payment hash",
        ),
        reply="Two tests compare the whole hash. `TypeError: digest.slice is not a function` came "
        "from passing a Buffer; "
        "calling toString('hex') first was the remedy. All pass now.",
        asked=(
            (
                "What was the remedy for the error that digest.slice is not a function?",
                "toString('hex')",
            ),
        ),
        told=10600,
    ),
    Beat(
        said="Next: the queue. Why are webhooks handled out of order?",
        big=(
            "src/queue/queue.worker.ts 31000",
            "src/webhook/webhook.store.ts 400",
            "logs/queue.log 240",
        ),
        fact=(
            "2026-02-27T18:03:55.400Z worker-7 queue WARN restarted after heap reached 1893 MB, "
            "212 jobs returned"
        ),
        where=0.5,
        steps=("search visibilityTimeout 3",),
        reply="Jobs are returned to the queue when a worker dies, behind newer ones. worker-7 died "
        "of memory that evening.",
        asked=(("How far had the heap of worker-7 grown when it restarted?", "1893 MB"),),
        told=10600,
    ),
    Beat(
        said="What eats the memory there?",
        big=(
            "src/webhook/webhook.parser.ts 31000",
            "src/snapshot/snapshot.store.ts 400",
        ),
        steps=(
            "bash node --heap-prof",
            "search snapshotCache 3",
        ),
        reply="The parser keeps every raw body in `snapshotCache` and nothing ever empties it.",
        asked=(
            ("Which cache keeps every raw body so that the parser eats memory?", "snapshotCache"),
        ),
        later=10,
        told=10600,
    ),
    Beat(
        said="Bound it. Keep at most 500 bodies, oldest out first.",
        big=("src/snapshot/snapshot.policy.ts 400",),
        steps=(
            "edit src/snapshot/snapshot.policy.ts 112",
            "test snapshot policy",
        ),
        reply=(
            "Bounded: the oldest body goes when the 501st comes. The policy's tests cover both "
            "ends."
        ),
        asked=(),
        told=10600,
    ),
    Beat(
        said="Look at how the settings of production and staging differ for the queue.",
        big=(
            "config/production.json 300",
            "config/staging.json 300",
        ),
        fact='  "queueVisibilitySeconds": 45,',
        where=0.2,
        steps=("search queueVisibilitySeconds 3",),
        reply=(
            "Production returns a job after 45 seconds, staging after 300. That is why staging "
            "never showed it."
        ),
        asked=(
            (
                "After how many seconds does production return a queue job, unlike staging?",
                "45 seconds",
            ),
        ),
        told=10600,
    ),
    Beat(
        said=(
            "Set production to 300 too. By the way, releases are frozen from March 18 on because "
            "of the audit."
        ),
        big=("config/schema.ts 400",),
        steps=(
            "edit config/production.json 57",
            "test config",
        ),
        reply="Done. I keep the freeze in mind: what is to ship has to be merged before.",
        asked=(("From which day on are releases frozen because of the audit?", "March 18"),),
        told=10600,
    ),
    Beat(
        said="Now the order of webhooks itself: what do we have to sort by?",
        big=(
            "src/event/event.store.ts 400",
            "src/event/event.cursor.ts 400",
        ),
        steps=(
            "search eventSequence 3",
            "rows event 4",
        ),
        reply="Every event has `providerSeq`, which rises by one per order. Sorting by it, and "
        "waiting for a gap, is enough.",
        asked=(
            (
                (
                    "Which field of an event rises by one per order, so that webhooks can be "
                    "sorted by it?"
                ),
                "providerSeq",
            ),
        ),
        told=10600,
    ),
    Beat(
        said="How long should we wait for a gap? Measure how late events come.",
        big=(
            "logs/event.log 240",
            "src/event/event.metrics.ts 400",
        ),
        fact=(
            "2026-02-28T07:11:31.020Z edge-1 event INFO lateness p50=0.4s p99=11.7s max=38.27s "
            "over 24h"
        ),
        where=0.96,
        steps=("bash node scripts/lateness.js",),
        reply=(
            "99 % come within 11.7 s, the worst took 38.27 s. I would wait 40 seconds, then go on "
            "and flag the gap."
        ),
        asked=(
            ("What was the maximal lateness of events over 24h?", "38.27"),
            ("How long would we wait for a gap before going on and flagging it?", "40 seconds"),
        ),
        told=10600,
    ),
    Beat(
        said="Good. Write the sorter, in a file of its own.",
        big=(
            "src/event/event.types.ts 400",
            "src/event/event.dispatcher.ts 400",
        ),
        steps=(
            "write src/event/event.sorter.ts 6000",
            "test event sorter",
        ),
        reply=(
            "`EventSorter` holds back what comes early, at most 40 s, and writes `event_gap` when "
            "it gives up."
        ),
        asked=(("What does EventSorter write when it gives up waiting?", "event_gap"),),
        told=10600,
    ),
    Beat(
        said="It must survive a restart. Where could it keep what it holds back?",
        big=(
            "src/cursor/cursor.store.ts 4000",
            "migrations/0061_events.ts 4000",
            "src/lock/lock.store.ts 4000",
        ),
        steps=(
            "search advisoryLock 7",
            "rows cursor 10",
        ),
        reply="In the table the cursor uses, with one row per order. No new table is needed; I "
        "would add column held_until.",
        asked=(
            (
                "Which column would be added for the held back events to survive a restart?",
                "held_until",
            ),
        ),
        told=6500,
    ),
    Beat(
        said="Write the migration. Number 0062. Down must work too.",
        big=(
            "migrations/0060_cursor.ts 8000",
            "src/database/database.migrate.ts 8000",
            "src/session/session.schema.ts 8000",
            "src/tenant/tenant.schema.ts 8000",
            "src/invoice/invoice.schema.ts 8000",
            "src/cart/cart.schema.ts 8000",
            "src/event/event.schema.ts 8000",
            "src/order/order.schema.ts 8000",
            "src/payment/payment.schema.ts 8000",
            "src/queue/queue.schema.ts 8000",
            "src/webhook/webhook.schema.ts 8000",
        ),
        steps=(
            "write migrations/0062_held.ts 2500",
            "fail migrate",
        ),
        reply="The first run failed: `relation event_cursor is locked by pid 4471`, a forgotten "
        "psql session. After ending "
        "it the migration runs up and down in 0.9 s.",
        asked=(("Which pid held the lock on event_cursor when the migration failed?", "4471"),),
        told=6500,
    ),
    *LATER,
)


def long_session() -> dict[str, Any]:
    """The recording."""
    rng = random.Random(287)
    script = Script(name="long_session", seed=45, system=system(rng, 16_000, PROJECT), tools=TOOLS)
    play(script, BEATS)
    return script.written(minutes=MINUTES)
