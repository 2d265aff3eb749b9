"""Asks the questions of docs/questions.md of one lake in every engine, and compares the answers.

    questions.py PROJECT HOME HAAT FLIGHT_ADDRESS

prints, as JSON, how many rows each question has in each engine, and where an engine's answer is another than that of `haat sql`.
Texts, days, moments and whole numbers are equal or not; decimals are equal to one part in a million. Rows are compared as a set:
engines order what is equal as they like.
"""
import datetime, decimal, json, math, pathlib, subprocess, sys, tempfile

import deltalake
import pyarrow
import pyarrow.parquet

TABLES = [
    "brands", "products", "variants", "reviews", "shipping_policies", "delivery_zones", "price_history", "product_history",
    "crawl_runs", "quarantine", "exchange_rates", "currencies", "pincodes",
]
PART = 1e-6


def statements(project):
    """The statements of the document, in their order."""
    text = (pathlib.Path(project) / "docs/questions.md").read_text()
    return [block.split("```", 1)[0].strip() for block in text.split("```sql\n")[1:]]


def of_haat(home, haat, *more):
    """`haat sql`: a process for each statement, which leaves a Parquet file."""
    def answer(statement):
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/answer.parquet"
            command = [haat, "sql", statement, "--home", home, "--out", out, "--quiet", *more]
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode != 0:
                raise RuntimeError(ran.stderr.strip())
            return pyarrow.parquet.read_table(out)
    return answer


def of_duckdb(lake):
    import duckdb

    market = duckdb.connect()
    market.execute("set TimeZone = 'UTC'")
    for name in TABLES:
        market.register(name, deltalake.DeltaTable(f"{lake}/{name}").to_pyarrow_dataset())
    return lambda statement: market.sql(statement).to_arrow_table()


def of_datafusion(lake):
    import datafusion

    market = datafusion.SessionContext()
    for name in TABLES:
        market.register_dataset(name, deltalake.DeltaTable(f"{lake}/{name}").to_pyarrow_dataset())
    return lambda statement: market.sql(statement).to_arrow_table()


def of_flight(address):
    import adbc_driver_flightsql.dbapi as flight_sql

    def answer(statement):
        with flight_sql.connect(address) as market, market.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetch_arrow_table()
    return answer


def frames(module, lake):
    """What a module with the twelve as functions answers, by the number of the question."""
    return [lambda function=function: function(lake) for function in module.ANSWERS]


def plain(value):
    """A value without what engines do differently: the type of a number, the zone of a moment, not-a-number for null."""
    if isinstance(value, datetime.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float, decimal.Decimal)):
        number = float(value)
        if math.isnan(number):
            return None
        return int(number) if number.is_integer() else number
    return value


def rows(answer):
    """Rows with their columns by name, in one order for all engines: by what is no decimal, then by the decimals, rounded."""
    if not isinstance(answer, (pyarrow.Table, list)):
        # Of pandas and of Polars.
        answer = answer.to_arrow() if hasattr(answer, "to_arrow") else pyarrow.Table.from_pandas(answer, preserve_index=False)
    found = [{name: plain(value) for name, value in row.items()} for row in answer.to_pylist()]
    exact = lambda row: [str(row[name]) for name in sorted(row) if not isinstance(row[name], float)]
    rounded = lambda row: [f"{row[name]:.4g}" for name in sorted(row) if isinstance(row[name], float)]
    return sorted(found, key=lambda row: (exact(row), rounded(row)))


def is_same(one, other):
    # A decimal may be whole in one engine, and off by a last digit in another.
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool) and not isinstance(other, bool):
        both_whole = isinstance(one, int) and isinstance(other, int)
        return one == other if both_whole else math.isclose(one, other, rel_tol=PART, abs_tol=1e-9)
    return one == other


def differences(expected, found):
    """The first of what is different; none where all is equal."""
    if len(expected) != len(found):
        return f"{len(found)} rows, not {len(expected)}"
    for one, other in zip(expected, found):
        if sorted(one) != sorted(other):
            return f"columns {sorted(other)}, not {sorted(one)}"
        unequal = [name for name in one if not is_same(one[name], other[name])]
        if unequal:
            return f"{other}, not {one}: {unequal}"
    return None


def engines(project, home, haat, flight):
    """Each engine's answers, by the number of the question."""
    sys.path.insert(0, str(pathlib.Path(project) / "docs/questions"))
    import with_pandas, with_polars

    lake, asked = f"{home}/lake", statements(project)
    by_sql = {
        "haat sql": of_haat(home, haat),
        "duckdb": of_duckdb(lake),
        "datafusion": of_datafusion(lake),
        "flight sql": of_flight(flight.replace("http://", "grpc://")),
    }
    all_of = {name: [lambda ask=ask, one=one: ask(one) for one in asked] for name, ask in by_sql.items()}
    return all_of | {"polars": frames(with_polars, lake), "pandas": frames(with_pandas, lake)}


def main(project, home, haat, flight):
    counts, unequal = {}, []
    expected = None
    for name, answers in engines(project, home, haat, flight).items():
        found = []
        for number, answer in enumerate(answers, 1):
            try:
                found.append(rows(answer()))
            except Exception as error:
                found.append([])
                unequal.append(f"{name}, question {number}: {type(error).__name__}: {error}")
        counts[name] = [len(answer) for answer in found]
        expected = expected or found
        for number, (one, other) in enumerate(zip(expected, found), 1):
            told = differences(one, other)
            if told:
                unequal.append(f"{name}, question {number}: {told}")
    print(json.dumps({"rows": counts, "unequal": unequal}))


if __name__ == "__main__":
    main(*sys.argv[1:])
