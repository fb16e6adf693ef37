"""Every statement on recall's index in PostgreSQL; no other module names its tables, but for the one that makes them.

Words are found by a table of postings, from which BM25 is reckoned as FTS5 does it: what PostgreSQL's own text search
ranks by knows nothing of how rare a word is. A query can name a table only as `_of` spells it, with its space.
"""

from dataclasses import fields

from memory.recall.rows import IndexRow

SESSIONS = 1 << 32
"""More sessions than one source has."""
SATURATION, LENGTH, LEAST = 1.2, 0.75, 1e-6
"""Of BM25, and the weight of a word that most rows have. Source: bm25() of SQLite's FTS5."""


def _of(table: str) -> str:
    """A table as every query must name it: the rows of one space."""
    return f"(SELECT * FROM mnema_index.{table} WHERE space = %(space)s) AS {table}"  # noqa: S608  here and below: names and numbers of ours, nothing from outside


def _each(table: str, condition: str) -> str:
    """The rows of a table that belong to each row before it, looked up by its index whatever the planner believes.

    Its statistics are of all spaces; where one holds a hundred thousand rows and the others ten it guesses wrong.
    """
    return f"CROSS JOIN LATERAL (SELECT * FROM {_of(table)} WHERE {condition} OFFSET 0) AS {table}"  # noqa: S608


COLUMNS = tuple(field.name for field in fields(IndexRow))
_TYPES = dict.fromkeys(("id", "source", "session", "place", "line", "last", "turn", "seq"), "integer")
_TYPES |= {"asks": "smallint", "length": "smallint"}
PUT = ("id", "source", *COLUMNS, "asks", "terms", "length")
_FACTS = (
    f"entry.id, entry.source * {SESSIONS} + entry.session, entry.place, entry.day, entry.speaker, entry.asks, "
    "entry.source, entry.seq, entry.fold"
)
_NARROW = (
    "(%(since)s::text = '' OR entry.day >= %(since)s::text) "
    "AND (%(until)s::text = '' OR (entry.day <= %(until)s::text AND entry.day <> '')) "
    "AND (%(speaker)s::text = '' OR entry.speaker = %(speaker)s::text "
    "OR (length(entry.speaker) = length(%(speaker)s::text) + 6 "
    "AND substr(entry.speaker, 1, length(%(speaker)s::text) + 2) = %(speaker)s::text || ' #'))"
)
_SCORED = f"""
SELECT posting.entry AS id, SUM(asked.weight * posting.count * {SATURATION + 1} / (
    posting.count + {SATURATION} * ({1 - LENGTH} + {LENGTH} * posting.length / %(usual)s::float8))) AS bare
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked(term, weight)
{_each("posting", "posting.term = asked.term")} GROUP BY posting.entry
"""  # noqa: S608
BEST = f"""
WITH best AS ({_SCORED} ORDER BY bare DESC, id LIMIT %(most)s)
SELECT {_FACTS}, best.bare FROM best {_each("entry", "entry.id = best.id")} ORDER BY best.bare DESC, entry.id
"""  # noqa: S608
BEST_NARROWED = f"""
WITH scored AS ({_SCORED})
SELECT {_FACTS}, scored.bare FROM scored {_each("entry", "entry.id = scored.id")}
WHERE {_NARROW} ORDER BY scored.bare DESC, entry.id LIMIT %(most)s
"""  # noqa: S608
OF_DAYS = f"""
SELECT {_FACTS}, 0.0::float8 FROM {_of("entry")} WHERE {{days}} AND {_NARROW} ORDER BY entry.id LIMIT %(most)s
"""  # noqa: S608
AROUND = f"""
SELECT {_FACTS}, 0.0::float8
FROM unnest(%(sources)s::integer[], %(sessions)s::integer[], %(places)s::integer[]) AS near(source, session, place)
{_each("entry", "entry.source = near.source AND entry.session = near.session AND entry.place = near.place")}
WHERE {_NARROW}
"""  # noqa: S608
HOLDING = f"""
SELECT {_FACTS}, held.letters::float8 FROM {_of("entry")} CROSS JOIN LATERAL (
    SELECT COUNT(*) AS letters FROM unnest(%(letters)s::text[]) AS one(letter) WHERE strpos(entry.words, one.letter) > 0
) AS held WHERE held.letters > 0 AND {_NARROW} ORDER BY held.letters DESC, entry.id LIMIT %(most)s
"""  # noqa: S608
BY_NUMBER = f"SELECT {_FACTS}, 0.0::float8 FROM {_of('entry')} WHERE entry.id = ANY(%(rows)s) AND {_NARROW}"  # noqa: S608
WHOLE = f"SELECT id, source, terms, {', '.join(COLUMNS)} FROM {_of('entry')} WHERE id = ANY(%(rows)s)"  # noqa: S608
FREQUENCIES = f"SELECT term, COUNT(*) FROM {_of('posting')} WHERE term = ANY(%(terms)s) GROUP BY term"  # noqa: S608
SOURCES = f"SELECT name, id, stamp FROM {_of('source')}"  # noqa: S608
SPEAKERS = f"SELECT name FROM {_of('speaker')}"  # noqa: S608
ENTRIES = f"""
SELECT id, {", ".join(COLUMNS)} FROM {_of("entry")} WHERE source = %(source)s AND id > %(after)s
ORDER BY id LIMIT %(most)s
"""  # noqa: S608
LINES = f"SELECT line, words FROM {_of('entry')} WHERE source = %(source)s ORDER BY id"  # noqa: S608
WRONG = f"""
SELECT COALESCE(made.id, posting.entry) FROM (
    SELECT entry.id, one.term, COUNT(*) AS count FROM {_of("entry")}
    CROSS JOIN LATERAL unnest(string_to_array(entry.terms, ' ')) AS one(term) GROUP BY entry.id, one.term
) AS made FULL JOIN {_of("posting")} ON posting.entry = made.id AND posting.term = made.term COLLATE "C"
WHERE posting.count IS DISTINCT FROM made.count::smallint LIMIT 1
"""  # noqa: S608
COUNTED = f"SELECT COUNT(*), COALESCE(SUM(length), 0) FROM {_of('entry')}"  # noqa: S608
UNEMBEDDED = f"""
SELECT entry.id, entry.words FROM {_of("entry")}
LEFT JOIN {_of("vector")} ON vector.entry = entry.id AND vector.model = %(model)s
WHERE vector.entry IS NULL ORDER BY entry.id LIMIT %(most)s
"""  # noqa: S608
VECTORS = f"SELECT entry, data FROM {_of('vector')} WHERE model = %(model)s AND entry > %(after)s ORDER BY entry"  # noqa: S608
NEWEST_VECTOR = f"SELECT COALESCE(MAX(entry), 0) FROM {_of('vector')}"  # noqa: S608

SPACE = "SELECT id, rows, length, next, gone, generation FROM mnema_index.space WHERE name = %(name)s"
SPACES = "SELECT name FROM mnema_index.space ORDER BY name"
LOCK_SPACE = f"{SPACE} FOR UPDATE"
MAKE_SPACE = "INSERT INTO mnema_index.space(name) VALUES (%(name)s) ON CONFLICT DO NOTHING"
WAIT = "SELECT set_config('lock_timeout', %(wait)s, true)"
KEEP_SPACE = """
UPDATE mnema_index.space SET rows = %(rows)s, length = %(length)s, next = %(next)s, gone = %(gone)s,
    generation = %(generation)s WHERE id = %(space)s
"""
DROP_SPACE = tuple(
    f"DELETE FROM mnema_index.{table} WHERE {'id' if table == 'space' else 'space'} = %(space)s"  # noqa: S608
    for table in ("posting", "vector", "entry", "speaker", "source", "space")
)
PUT_SOURCE = f"""
INSERT INTO mnema_index.source(space, id, name, stamp)
SELECT %(space)s, COALESCE(MAX(source.id), 0) + 1, %(name)s, %(stamp)s FROM {_of("source")}
ON CONFLICT (space, name) DO UPDATE SET stamp = excluded.stamp RETURNING id
"""  # noqa: S608
PUT_ENTRIES = f"""
INSERT INTO mnema_index.entry(space, {", ".join(PUT)})
SELECT %(space)s, * FROM unnest({", ".join(f"%({name})s::{_TYPES.get(name, 'text')}[]" for name in PUT)})
"""  # noqa: S608
PUT_POSTINGS = """
INSERT INTO mnema_index.posting(space, term, entry, count, length)
SELECT %(space)s, * FROM unnest(%(term)s::text[], %(entry)s::integer[], %(count)s::smallint[], %(length)s::smallint[])
"""
PUT_SPEAKERS = """
INSERT INTO mnema_index.speaker(space, name) SELECT %(space)s, * FROM unnest(%(names)s::text[]) ON CONFLICT DO NOTHING
"""
DROP_ENTRIES = """
DELETE FROM mnema_index.entry WHERE space = %(space)s AND source = %(source)s AND id > %(after)s
RETURNING id, words, terms, length
"""
DROP_POSTINGS = """
DELETE FROM mnema_index.posting AS held USING unnest(%(term)s::text[], %(entry)s::integer[]) AS gone(term, entry)
WHERE held.space = %(space)s AND held.term = gone.term AND held.entry = gone.entry
"""
DROP_VECTORS = """
DELETE FROM mnema_index.vector WHERE space = %(space)s AND entry = ANY(%(rows)s) RETURNING entry, model, data
"""
DROP_SOURCE = "DELETE FROM mnema_index.source WHERE space = %(space)s AND id = %(source)s"
DROP_OTHER_MODELS = "DELETE FROM mnema_index.vector WHERE space = %(space)s AND model <> %(model)s RETURNING entry"
PUT_VECTORS = f"""
INSERT INTO mnema_index.vector(space, entry, model, data)
SELECT %(space)s, entry.id, %(model)s, given.data
FROM unnest(%(rows)s::integer[], %(words)s::text[], %(made)s::bytea[])
    AS given(entry, words, data)
JOIN {_of("entry")} ON entry.id = given.entry AND entry.words = given.words
ON CONFLICT (space, entry, model) DO UPDATE SET data = excluded.data RETURNING entry
"""  # noqa: S608
PUT_BACK_VECTORS = f"""
INSERT INTO mnema_index.vector(space, entry, model, data)
SELECT %(space)s, entry.id, given.model, given.data
FROM unnest(%(words)s::text[], %(models)s::text[], %(made)s::bytea[]) AS given(words, model, data)
JOIN {_of("entry")} ON entry.source = %(source)s AND entry.words = given.words
ON CONFLICT DO NOTHING
"""  # noqa: S608
