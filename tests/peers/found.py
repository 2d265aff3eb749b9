"""Asks the questions of docs/found.md of a query server over HTTP and over Flight SQL, and of DuckDB over the same tables and what
REST answers.

    found.py PROJECT HOME HAAT ADDRESS SQL_ADDRESS

prints, as JSON, how many rows each question has in each engine, and where an engine's answer is another than that of DuckDB.
"""
import json, pathlib, re, subprocess, sys, tempfile, urllib.parse, urllib.request

import deltalake, duckdb, pyarrow, pyarrow.parquet

import questions

RELEASE = ["products", "variants", "brands", "product_matches"]
CALL = re.compile(r"\b(search|similar|recommend|shipping)\(([^()]*)\)")


def get(address, path, **parameters):
    with urllib.request.urlopen(f"{address}{path}?{urllib.parse.urlencode(parameters)}") as answer:
        return json.load(answer)


def arguments(text, names):
    """The arguments of a call by their names."""
    stated, place = {}, 0
    for part in re.findall(r"(?:(\w+) => )?(?:'([^']*)'|(\d+))", text):
        name = part[0] or names[place]
        place += 1
        stated[name] = part[1] or part[2]
    return stated


def cards(answer, **columns):
    return [{"product_id": card["id"], "rank": rank, **{name: values[rank - 1] for name, values in columns.items()}}
            for rank, card in enumerate(answer["data"], 1)]


def found(address, market, name, text):
    """What REST answers a call, as rows."""
    if name == "search" or name == "similar":
        asked = arguments(text, ["q", "mode", "limit"] if name == "search" else ["similar_to", "limit"])
        answer = get(address, "/v1/search", explain="true", **asked)
        return cards(answer, score=[one["score"] for one in answer["provenance"]["explain"]])
    if name == "recommend":
        return cards(get(address, "/v1/recommend", **arguments(text, ["product_id", "intent", "limit"])))
    rows = []
    for slug, product in market.sql("select brand_slug, min(product_id) from products group by 1").fetchall():
        told = get(address, "/v1/shipping", product=product, pincode=text.strip("'"))["data"]
        days = {name: told["delivery"][name] for name in ["days_min", "days_max"]}
        rows.append({"brand_slug": slug, **days, "free_shipping_threshold_minor": told["free_shipping_threshold_minor"]})
    return rows


def of_duckdb(home, haat, address):
    market = duckdb.connect()
    market.execute("set TimeZone = 'UTC'")
    market.execute("create schema lake")
    for name in RELEASE:
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/table.parquet"
            subprocess.run([haat, "sql", "--release", f"select * from {name}", "--home", home, "--out", out, "--quiet"],
                           check=True, stdout=subprocess.DEVNULL)
            market.execute(f"create table {name} as select * from '{out}'")
    market.register("history", deltalake.DeltaTable(f"{home}/lake/price_history").to_pyarrow_dataset())
    market.execute("create table lake.price_history as select * from history")

    def ask(statement):
        places = []

        def register(call):
            rows = found(address, market, call.group(1), call.group(2))
            places.append(f"found_{len(places)}")
            market.register(places[-1], pyarrow.Table.from_pylist(rows))
            return places[-1]

        return market.sql(CALL.sub(register, statement)).to_arrow_table()
    return ask


def of_http(address):
    def ask(statement):
        request = urllib.request.Request(
            f"{address}/v1/sql", json.dumps({"sql": statement}).encode(),
            {"content-type": "application/json", "accept": "application/vnd.apache.arrow.stream"},
        )
        with urllib.request.urlopen(request) as answer:
            return pyarrow.ipc.open_stream(answer.read()).read_all()
    return ask


def main(project, home, haat, address, sql_address):
    text = (pathlib.Path(project) / "docs/found.md").read_text()
    product = get(address, "/v1/search", q="earbuds", limit=1)["data"][0]["id"]
    asked = [block.split("```", 1)[0].strip().replace("{product}", product) for block in text.split("```sql\n")[1:]]
    engines = {
        "duckdb": of_duckdb(home, haat, address),
        "http": of_http(sql_address),
        "flight": questions.of_flight(sql_address.replace("http://", "grpc://")),
    }
    counts, unequal = {name: [] for name in engines}, []
    for number, statement in enumerate(asked, 1):
        expected = None
        for name, ask in engines.items():
            try:
                rows = questions.rows(ask(statement))
            except Exception as error:
                words = error.read().decode() if hasattr(error, "read") else error
                unequal.append(f"{name}, question {number}: {type(error).__name__}: {words}")
                continue
            counts[name].append(len(rows))
            expected = rows if expected is None else expected
            told = questions.differences(expected, rows)
            if told:
                unequal.append(f"{name}, question {number}: {told}")
    print(json.dumps({"rows": counts, "unequal": unequal}))


if __name__ == "__main__":
    main(*sys.argv[1:])
