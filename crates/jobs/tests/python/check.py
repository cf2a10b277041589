"""Makes the rows of a job from the formulas of docs/JOBS.md, does its steps with numpy and DuckDB, and compares."""

import json
import sys

import duckdb
import numpy as np
import pandas as pd
import xxhash

U64 = np.uint64
GOLDEN = U64(0x9E3779B97F4A7C15)
ROW = np.dtype(
    [("id", "<u8"), ("key", "<u8"), ("day", "<u4"), ("quantity", "<u4"), ("amount", "<i8")]
    + [(f"x{number}", "<f8") for number in range(8)]
    + [("y", "<f8")]
    + [(f"filler{number}", "<u8") for number in range(3)]
)
HEADER = 128


def mix(z):
    z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def drawn(seed, place):
    return mix(U64(seed) + (place + U64(1)) * GOLDEN)


def seed_of(seed, name):
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) % 2**64
    return mix(np.array([seed ^ hashed], U64))[0]


def generated(seed, first, count, made, groups, by_key):
    """The rows from number `first` on of a table that was made with `made` rows."""
    i = np.arange(first, first + count, dtype=U64)
    d = [drawn(seed, U64(16) * i + U64(column)) for column in range(16)]
    u = lambda word: (word >> U64(11)).astype(np.float64) / 2.0**53
    rows = np.zeros(count, ROW)
    rows["id"] = i
    rows["key"] = i * U64(groups) // U64(max(made, 1)) if by_key else d[1] % U64(groups)
    rows["day"] = ((d[2] >> U64(32)) * U64(3650)) >> U64(32)
    rows["quantity"] = U64(1) + (((d[2] & U64(0xFFFFFFFF)) * U64(100)) >> U64(32))
    rows["amount"] = (d[3] % U64(1_000_000)).astype(np.int64) - 100_000
    y = np.ones(count)
    for number in range(8):
        rows[f"x{number}"] = u(d[4 + number])
        y = y + (number + 1) * rows[f"x{number}"]
    rows["y"] = y + (u(d[12]) - 0.5)
    for number in range(3):
        rows[f"filler{number}"] = d[13 + number]
    return rows


def read(path, page_bytes):
    """The rows of a table file; all of it must be as documented."""
    data = open(path, "rb").read()
    assert data and len(data) % page_bytes == 0, path
    pages = []
    for number in range(len(data) // page_bytes):
        page = data[number * page_bytes : (number + 1) * page_bytes]
        word = lambda place, size: int.from_bytes(page[place : place + size], "little")
        assert page[:8] == b"IOPTABLE" and word(8, 4) == 1 and word(16, 8) == number
        assert word(28, 4) == page_bytes and word(68, 4) == 128
        assert word(24, 4) == (number + 1 == len(data) // page_bytes)
        assert word(120, 8) == xxhash.xxh64_intdigest(page[:120])
        end = HEADER + 128 * word(12, 4)
        assert word(32, 8) == xxhash.xxh64_intdigest(page[HEADER:end])
        assert not any(page[end:])
        pages.append(np.frombuffer(page[HEADER:end], ROW))
    return np.concatenate(pages)


def checksum(rows):
    data = rows.tobytes()
    return sum(xxhash.xxh64_intdigest(data[place : place + 128]) for place in range(0, len(data), 128)) % 2**64


def sums(rows, name):
    found = connection(rows).execute("SELECT count(*), sum(quantity), sum(amount) FROM frame").fetchone()
    return {name: found[0], "sum_quantity": found[1] or 0, "sum_amount": found[2] or 0}


def connection(rows, other=None):
    made = duckdb.connect()
    made.register("frame", pd.DataFrame(rows))
    if other is not None:
        made.register("other", pd.DataFrame(other))
    return made


def ordered(rows):
    """In the order of key and number, by DuckDB."""
    numbers = connection(rows).execute("SELECT row_number() OVER () - 1 AS n, * FROM frame ORDER BY key, id").df()["n"]
    return rows[numbers.to_numpy()]


def same(found, expected):
    assert found.tobytes() == expected.tobytes(), (len(found), len(expected))


def scan(rows, millionths):
    return rows[rows["day"].astype(np.int64) * 1_000_000 < millionths * 3650]


def summarised(rows):
    query = "SELECT key, count(*) AS n, sum(quantity) AS q, sum(amount) AS a FROM frame GROUP BY key ORDER BY key"
    groups = connection(rows).execute(query).df()
    made = np.zeros(len(groups), ROW)
    made["id"] = made["key"] = groups["key"]
    made["amount"] = groups["a"].astype(np.int64)
    made["filler0"] = groups["n"]
    made["filler1"] = groups["q"].astype(np.int64)
    made["y"] = made["amount"] / made["filler0"]
    return made


def joined(left, right):
    query = """SELECT f.n AS l, o.n AS r FROM (SELECT row_number() OVER () - 1 AS n, key FROM frame) f
               JOIN (SELECT row_number() OVER () - 1 AS n, key FROM other) o USING (key) ORDER BY f.n, o.n"""
    pairs = connection(left, right).execute(query).df()
    left, right = left[pairs["l"].to_numpy()], right[pairs["r"].to_numpy()]
    made = left.copy()
    made["id"] = np.arange(len(made))
    made["amount"] = left["amount"] + right["amount"]
    for number in range(4):
        made[f"x{number + 4}"] = right[f"x{number}"]
    made["y"] = left["y"] + right["y"]
    made["filler0"], made["filler1"] = left["id"], right["id"]
    return made


def looked_up(rows, seed, lookups, groups):
    keys, first = np.unique(rows["key"], return_index=True)
    wanted = drawn(seed, np.arange(lookups, dtype=U64)) % U64(groups)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return rows[first[place[keys[place] == wanted]]]


def updated(rows, seed, millionths, per_page):
    """All rows after the update, and those that it changed."""
    pages = -(-len(rows) // per_page)
    wanted = -(-pages * millionths // 1_000_000)
    changed = np.zeros(len(rows), bool)
    for page in range(pages):
        if int(drawn(seed, np.array([page], U64))[0]) % (pages - page) < wanted:
            wanted -= 1
            changed[page * per_page : (page + 1) * per_page] = True
    after = rows.copy()
    after["amount"][changed] += 1
    after["quantity"][changed] = after["quantity"][changed] % 100 + 1
    return after, after[changed]


def main():
    told = json.load(open(sys.argv[1]))
    order = told["order"]
    page_bytes, stream, seed = order["page_bytes"], order["stream"], order["seed"]
    per_page = page_bytes // 128 - 1
    tables, made = {}, {}

    def table_seed(name):
        return seed_of(seed, f"{name}/{stream}")

    for number, (step, outcome) in enumerate(zip(order["steps"], told["outcomes"], strict=True)):
        action = step["action"]
        step_seed = seed_of(seed, f"{order['test']}/{stream}/{order['round']}/{number}")
        rows = tables.get(action.get("input") or action.get("table"))
        output = (action.get("output") or {}).get("table")
        found, expected, rows_in = {}, None, len(rows) if rows is not None else 0
        match action["do"]:
            case "generate":
                made[output] = (action["rows"], action["groups"], action["order"] == "key")
                expected = generated(table_seed(output), 0, action["rows"], *made[output])
                # The job reads back what it makes.
                rows_in = len(expected)
            case "scan":
                expected = scan(rows, action["keep_millionths"])
                found = sums(expected, "matches")
            case "summarise":
                expected = summarised(rows)
                found = {**sums(rows, "rows"), "keys": len(expected)}
            case "sort":
                expected = ordered(rows)
            case "merge":
                left, right = tables[action["left"]], tables[action["right"]]
                rows_in = len(left) + len(right)
                expected = joined(left, right)
                found = sums(expected, "matches")
            case "index":
                hits = looked_up(rows, step_seed, action["lookups"], made[action["input"]][1])
                found = {**sums(hits, "matches"), "lookups": action["lookups"]}
                rows_in += len(hits)
            case "append":
                name = action["table"]
                expected = generated(table_seed(name), len(rows), action["rows"], *made[name])
                old = len(rows) % per_page or per_page
                found = {**sums(expected, "rows"), "pages": -(-(old + len(expected)) // per_page)}
                rows_in = old
                tables[name] = np.concatenate([rows, expected])
            case "update":
                tables[action["table"]], expected = updated(rows, step_seed, action["share_millionths"], per_page)
                found = {**sums(expected, "rows"), "pages": -(-len(expected) // per_page)}
                rows_in = len(expected)
            case other:
                raise AssertionError(f"no such step: {other}")
        rows_out = len(expected) if output or action["do"] in ("append", "update") else 0
        assert (outcome["rows_in"], outcome["rows_out"]) == (rows_in, rows_out), (action, outcome, rows_in, rows_out)
        assert outcome["found"] == found, (action, outcome["found"], found)
        if rows_out:
            assert outcome["checksum"] == checksum(expected), action
        if output:
            tables[output] = read(told["tables"][str(number)], page_bytes) if number > 1 else expected
            if action["do"] == "summarise":
                # Keys that had no room in memory follow in orders of their own.
                tables[output] = ordered(tables[output])
            same(tables[output], expected)
        print(action["do"], outcome["rows_in"], rows_out)
    # What was changed where it stands is what is there now.
    same(read(told["tables"]["0"], page_bytes), tables["orders"])
    same(read(told["tables"]["1"], page_bytes), tables["prices"])


np.seterr(over="ignore")
main()
