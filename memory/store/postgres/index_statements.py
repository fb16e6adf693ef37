"""The statements of PostgreSQL's search index, except those that create its tables.

Words are looked up in a table of postings, and BM25 is computed as FTS5 does it: PostgreSQL's own
text search does not rank rare words higher. Every query names its tables through `_of_space`, so
none can read the rows of another space.
"""

from memory.conversation import BOT_SPEAKER
from memory.recall.documents import IndexRow

# sessions that one source may have, so that one number stands for source and session
SESSIONS = 1 << 32
# Parameters of BM25, and the weight of a word that most rows have. Source: bm25() of SQLite's FTS5.
SATURATION, LENGTH_NORM, MIN_IDF = 1.2, 0.75, 1e-6


def _of_space(table: str) -> str:
    """The rows of one space in a table, for the FROM of a query."""
    return f"(SELECT * FROM mnema_index.{table} WHERE space = %(space)s) AS {table}"  # noqa: S608  here and below: constants, no input


def _lookup(table: str, condition: str) -> str:
    """A join that looks rows up by the table's index, whatever the planner prefers.

    Its statistics cover all spaces, so it plans badly for spaces of very different sizes.
    """
    return (
        f"CROSS JOIN LATERAL (SELECT * FROM {_of_space(table)} WHERE {condition} OFFSET 0) AS "  # noqa: S608
        f"{table}"
    )  # noqa: RUF100, S608


COLUMNS = IndexRow._fields
_TYPES = dict.fromkeys(
    ("id", "source", "session", "place", "line", "last", "turn", "seq", "part"), "integer"
)
_TYPES |= {"asks": "smallint", "length": "smallint", "outside": "boolean"}
ENTRY_COLUMNS = ("id", "source", *COLUMNS, "asks", "terms", "length")
_CANDIDATE = (
    f"entry.id, entry.source * {SESSIONS} + entry.session, entry.place, entry.day, entry.speaker, "
    "entry.asks, entry.source, entry.seq, entry.fold"
)
_FILTER = (
    "(entry.kind = 'tool') = %(tools)s::boolean AND (%(since)s::text = '' OR entry.day >= %(since)s"
    "::text) AND (%(until)s::text = '' OR (entry.day <= %(until)s::text AND entry.day <> '')) "
    "AND (%(speaker)s::text = '' OR entry.speaker = %(speaker)s::text "
    "OR (length(entry.speaker) = length(%(speaker)s::text) + 6 "
    "AND substr(entry.speaker, 1, length(%(speaker)s::text) + 2) = %(speaker)s::text || ' #'))"
)
_SCORED = f"""
SELECT posting.entry AS id, SUM(wanted.weight * posting.count * {SATURATION + 1} / (
    posting.count + {SATURATION} * ({1 - LENGTH_NORM} + {LENGTH_NORM} * posting.length /
    %(mean_length)s::float8)
)) AS word_score
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS wanted(term, weight)
{_lookup("posting", "posting.term = wanted.term")} GROUP BY posting.entry
"""  # noqa: S608
BEST = f"""
WITH best AS ({_SCORED} ORDER BY word_score DESC, id LIMIT %(most)s)
SELECT {_CANDIDATE}, best.word_score FROM best {_lookup("entry", "entry.id = best.id")}
ORDER BY best.word_score DESC, entry.id
"""  # noqa: S608
BEST_FILTERED = f"""
WITH scored AS ({_SCORED})
SELECT {_CANDIDATE}, scored.word_score FROM scored {_lookup("entry", "entry.id = scored.id")}
WHERE {_FILTER} ORDER BY scored.word_score DESC, entry.id LIMIT %(most)s
"""  # noqa: S608
ON_DAYS = f"""
SELECT of_days.* FROM unnest(%(firsts)s::text[], %(lasts)s::text[]) AS days(first, last) CROSS JOIN
LATERAL (
    SELECT {_CANDIDATE}, 0.0::float8 FROM {_of_space("entry")}
    WHERE entry.day BETWEEN days.first AND days.last AND {_FILTER} ORDER BY entry.day, entry.id
    LIMIT %(most)s
) AS of_days LIMIT %(most)s
"""  # noqa: S608
FIRST_AND_LAST_DAY = f"SELECT COALESCE(MIN(day), ''), COALESCE(MAX(day), '') FROM {_of_space('entry')} WHERE day > ''"  # noqa: E501, S608
AROUND = f"""
SELECT {_CANDIDATE}, 0.0::float8
FROM unnest(%(sources)s::integer[], %(sessions)s::integer[], %(places)s::integer[]) AS near(source,
session, place)
{_lookup("entry", "entry.source = near.source AND entry.session = near.session AND entry.place = near.place")}
WHERE {_FILTER}
"""  # noqa: E501, S608
WITH_CHARACTERS = f"""
SELECT {_CANDIDATE}, held.letters::float8 FROM {_of_space("entry")} CROSS JOIN LATERAL (
    SELECT COUNT(*) AS letters FROM unnest(%(letters)s::text[]) AS one(letter) WHERE
    strpos(entry.words, one.letter) > 0
) AS held WHERE held.letters > 0 AND {_FILTER} ORDER BY held.letters DESC, entry.id LIMIT %(most)s
"""  # noqa: S608
BY_NUMBER = (
    f"SELECT {_CANDIDATE}, 0.0::float8 FROM {_of_space('entry')} WHERE entry.id = ANY(%(rows)s) "  # noqa: S608
    f"AND {_FILTER}"
)  # noqa: RUF100, S608
INDEXED_ROWS = (
    f"SELECT id, source, terms, {', '.join(COLUMNS)} FROM {_of_space('entry')} WHERE id = "  # noqa: S608
    "ANY(%(rows)s)"
)  # noqa: RUF100, S608
FREQUENCIES = (
    f"SELECT term, COUNT(*) FROM {_of_space('posting')} WHERE term = ANY(%(terms)s) GROUP BY term"  # noqa: S608
)
SOURCES = f"SELECT name, id, stamp FROM {_of_space('source')}"  # noqa: S608
SPEAKERS = f"SELECT name FROM {_of_space('speaker')}"  # noqa: S608
ENTRIES = f"""
SELECT id, {", ".join(COLUMNS)} FROM {_of_space("entry")} WHERE source = %(source)s AND id >
%(after)s
ORDER BY id LIMIT %(most)s
"""  # noqa: S608
LINES = f"SELECT line, words FROM {_of_space('entry')} WHERE source = %(source)s ORDER BY id"  # noqa: S608
LAST_PLACE = f"""
SELECT session, place FROM {_of_space("entry")} WHERE source = %(source)s ORDER BY session DESC,
place DESC LIMIT 1
"""  # noqa: S608
INCONSISTENT = f"""
SELECT COALESCE(made.id, posting.entry) FROM (
    SELECT entry.id, one.term, COUNT(*) AS count FROM {_of_space("entry")}
    CROSS JOIN LATERAL unnest(string_to_array(entry.terms, ' ')) AS one(term) GROUP BY entry.id,
    one.term
) AS made FULL JOIN {_of_space("posting")} ON posting.entry = made.id AND posting.term = made.term
COLLATE "C"
WHERE posting.count IS DISTINCT FROM made.count::smallint LIMIT 1
"""  # noqa: S608
COUNT_ENTRIES = f"""
SELECT COUNT(*) FILTER (WHERE kind <> 'tool'), COALESCE(SUM(length) FILTER (WHERE kind <> 'tool'),
0),
    COUNT(*) FILTER (WHERE kind = 'tool'), COALESCE(SUM(length) FILTER (WHERE kind = 'tool'), 0)
FROM {_of_space("entry")}
"""  # noqa: S608
_NEWEST_OF_PEOPLE = (
    f"ORDER BY entry.speaker = '{BOT_SPEAKER}', entry.id DESC LIMIT %(most)s OFFSET %(skip)s"
)
UNEMBEDDED = f"""
SELECT entry.id, entry.words FROM {_of_space("entry")} WHERE NOT entry.embedded AND entry.kind <>
'tool' {_NEWEST_OF_PEOPLE}
"""  # noqa: S608
NEWEST = f"""
SELECT entry.id, entry.words FROM {_of_space("entry")} WHERE entry.kind <> 'tool'
{_NEWEST_OF_PEOPLE}
"""  # noqa: S608
VECTOR_CHANGES = f"""
SELECT number, entry, data FROM {_of_space("vector")} WHERE number > %(after)s ORDER BY number
LIMIT %(most)s
"""  # noqa: S608
WORDS_AND_VECTORS = f"""
SELECT vector.number, entry.words, vector.data FROM {_of_space("vector")}
JOIN {_of_space("entry")} ON entry.id = vector.entry
WHERE vector.number > %(after)s AND vector.data IS NOT NULL ORDER BY vector.number LIMIT %(most)s
"""  # noqa: S608
COUNT_REMOVALS = f"SELECT COUNT(*) FROM {_of_space('vector')} WHERE data IS NULL"  # noqa: S608
OLD_REMOVAL = f"""
SELECT number FROM {_of_space("vector")} WHERE data IS NULL ORDER BY number DESC LIMIT 1
OFFSET %(listed)s
"""  # noqa: S608

SPACE = """
SELECT id, rows, length, tool_rows, tool_length, next, vector_model, last_vector, vectors_pruned,
generation FROM mnema_index.space WHERE name = %(name)s
"""
SPACES = "SELECT name FROM mnema_index.space ORDER BY name"
LOCK_SPACE = f"{SPACE} FOR UPDATE"
MAKE_SPACE = "INSERT INTO mnema_index.space(name) VALUES (%(name)s) ON CONFLICT DO NOTHING"
SET_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', %(wait)s, true)"
UPDATE_SPACE = """
UPDATE mnema_index.space SET rows = %(rows)s, length = %(length)s, tool_rows = %(tool_rows)s,
    tool_length = %(tool_length)s, next = %(next)s, vector_model = %(vector_model)s,
    last_vector = %(last_vector)s, vectors_pruned = %(vectors_pruned)s,
    generation = %(generation)s WHERE id = %(space)s
"""
DROP_SPACE = tuple(
    f"DELETE FROM mnema_index.{table} WHERE {'id' if table == 'space' else 'space'} = %(space)s"  # noqa: S608
    for table in ("posting", "vector", "entry", "speaker", "source", "space")
)
PUT_SOURCES = f"""
INSERT INTO mnema_index.source(space, id, name, stamp)
SELECT %(space)s, last.id + given.number, given.name, given.stamp
FROM (SELECT COALESCE(MAX(source.id), 0) AS id FROM {_of_space("source")}) AS last,
    unnest(%(names)s::text[], %(stamps)s::text[]) WITH ORDINALITY AS given(name, stamp, number)
ON CONFLICT (space, name) DO UPDATE SET stamp = excluded.stamp RETURNING name, id
"""  # noqa: S608
PUT_ENTRIES = f"""
INSERT INTO mnema_index.entry(space, {", ".join(ENTRY_COLUMNS)})
SELECT %(space)s, * FROM
unnest({", ".join(f"%({name})s::{_TYPES.get(name, 'text')}[]" for name in ENTRY_COLUMNS)})
"""  # noqa: S608
PUT_POSTINGS = """
INSERT INTO mnema_index.posting(space, term, entry, count, length)
SELECT %(space)s, * FROM unnest(%(term)s::text[], %(entry)s::integer[], %(count)s::smallint[],
%(length)s::smallint[])
"""
PUT_SPEAKERS = """
INSERT INTO mnema_index.speaker(space, name) SELECT %(space)s, * FROM unnest(%(names)s::text[]) ON
CONFLICT DO NOTHING
"""
DROP_ENTRIES = """
DELETE FROM mnema_index.entry WHERE space = %(space)s AND source = %(source)s AND id > %(after)s
RETURNING id, kind, words, terms, length
"""
DROP_POSTINGS = """
DELETE FROM mnema_index.posting AS held USING unnest(%(term)s::text[], %(entry)s::integer[]) AS
gone(term, entry)
WHERE held.space = %(space)s AND held.term = gone.term AND held.entry = gone.entry
"""
DROP_VECTORS = """
DELETE FROM mnema_index.vector WHERE space = %(space)s AND entry = ANY(%(rows)s) AND data IS NOT
NULL RETURNING entry, data
"""
PUT_REMOVALS = """
INSERT INTO mnema_index.vector(space, number, entry, data)
SELECT %(space)s, %(last)s + given.number, given.entry, NULL
FROM unnest(%(rows)s::integer[]) WITH ORDINALITY AS given(entry, number)
"""
DROP_REMOVALS = """
DELETE FROM mnema_index.vector WHERE space = %(space)s AND data IS NULL AND number <= %(pruned)s
"""
DROP_SOURCE = "DELETE FROM mnema_index.source WHERE space = %(space)s AND id = %(source)s"
DROP_ALL_VECTORS = (
    "DELETE FROM mnema_index.vector WHERE space = %(space)s",
    "UPDATE mnema_index.entry SET embedded = false WHERE space = %(space)s AND embedded",
)
MARK_EMBEDDED = """
UPDATE mnema_index.entry SET embedded = true
FROM unnest(%(rows)s::integer[], %(words)s::text[]) AS given(entry, words)
WHERE space = %(space)s AND id = given.entry AND entry.words = given.words AND NOT embedded
RETURNING id, entry.words
"""
PUT_VECTORS = """
INSERT INTO mnema_index.vector(space, number, entry, data)
SELECT %(space)s, %(last)s + given.number, given.entry, given.data
FROM unnest(%(rows)s::integer[], %(made)s::bytea[]) WITH ORDINALITY AS given(entry, data, number)
"""
SOURCE_WORDS = f"""
SELECT id, words FROM {_of_space("entry")} WHERE source = %(source)s AND id > %(after)s
"""  # noqa: S608
