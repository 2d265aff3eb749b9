#!/usr/bin/env python3
"""The twelve questions of docs/questions.md in every engine, timed beside each other.

    questions.py PROGRAM --home DIR [--products 200000] [--stores 1000] [--days 4] [--runs 3] [--engines duckdb,polars] [--ballista]

PROGRAM is a haat of a release build. The home is made by its demo, day by day, unless DIR has one: with a history, reviews, terms of shipping,
rates, quarantine, and days of delivery of twenty stores. The Python that runs this has tests/peers/requirements.txt installed.

Each question runs in a process of its own, which ends after --timeout-s or above --memory-gib of address space. Its time is that of the question, from
opening the tables to the last row, without the start of Python; that of `haat sql` is the whole process. With --ballista the questions are asked of one
scheduler and two executors as well (`deploy/ballista/run`), whose client says how long each took. The least of the runs counts. Prints
a line of JSON for each question and engine, and then a table for docs/benchmarks.md: seconds, and how many times that of the first engine.
"""
import argparse, json, os, pathlib, resource, signal, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/peers"), str(ROOT / "docs/questions")]
ENGINES = ["haat sql", "flight sql", "datafusion", "duckdb", "polars", "pandas"]
STORES_PROBED = 20
VARIABLES = {"HAAT_STOREFRONT__ALLOW_LOOPBACK": "true", "HAAT_STOREFRONT__RATE_START_PER_S": "1e9"}
# A statement over the wire is bounded; here it may take what the others may.
WIRE = {"HAAT_SQL__TIMEOUT_MS": "600000", "HAAT_SQL__MEMORY_BYTES_MAX": str(4 << 30), "HAAT_SQL__THREADS": "2", "HAAT_SQL__ROWS_MAX": "100000000"}


def haat(told, *args):
    command = [told.program, *args, "--home", told.home, "--json", "--quiet"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, env=os.environ | VARIABLES, check=True)
    return json.loads(ran.stdout)


def serving(told, *args):
    """A command that serves, and the line that it prints when it does."""
    command = [told.program, *args, "--home", told.home, "--json", "--quiet", "--listen", "127.0.0.1:0"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | VARIABLES | WIRE)
    line = child.stdout.readline()
    if not line:
        raise SystemExit(f"{' '.join(command)} did not serve")
    return child, json.loads(line)


def stopped(child):
    child.send_signal(signal.SIGINT)
    child.wait(timeout=120)


def fill(told):
    """The market of docs/questions.md, at the size that is asked for."""
    if (pathlib.Path(told.home) / "lake").exists():
        return
    begun = time.monotonic()
    size = ["--products", str(told.products), "--stores", str(told.stores), "--days", str(told.days)]
    demo, _ = serving(told, "demo", *size)
    try:
        stores = haat(told, "sql", "select p.brand_slug, b.base_url from products p join brands b using (store) group by 1, 2 order by count(*) desc, 1")
        change = lambda store, body: subprocess.run(
            ["curl", "-sf", f"{store['base_url']}/emulator/change", "-H", "content-type: application/json", "-d", json.dumps(body)],
            check=True, stdout=subprocess.DEVNULL)
        probed = stores[:STORES_PROBED]
        for seed, store in enumerate(probed, 1):
            change(store, {"kind": "deliver-by", "rules": {"kind": "by-state", "seed": seed}})
        haat(told, "delivery", "probe", "--brand", ",".join(store["brand_slug"] for store in probed))
        for store in probed:
            change(store, {"kind": "faults", "rules": [{"fault": {"kind": "nonsense-records", "every": 20}}]})
        haat(told, "crawl", *[word for store in probed for word in ("--brand", store["brand_slug"])])
        rates = {"USD": 88.5, "EUR": 102.4, "GBP": 116.2, "JPY": 0.57, "KWD": 288.0, "AED": 24.1, "SGD": 68.0}
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("date,base,quote,rate\n" + "".join(f"2026-11-20,{code},INR,{rate}\n" for code, rate in rates.items()))
            file.flush()
            haat(told, "rates", "import", file.name)
    finally:
        stopped(demo)
    print(json.dumps({"home": told.home, "made_in_s": round(time.monotonic() - begun, 1)}), flush=True)


def ask(told, engine, number, address):
    """What an engine needs for one question: seconds, rows and memory, or why there is no answer."""
    if engine == "haat sql":
        return ask_program(told, number)
    command = [sys.executable, __file__, told.program, "--home", told.home, "--one", engine, str(number), "--address", address]
    command += ["--memory-gib", str(told.memory_gib)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=told.timeout_s)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {told.timeout_s} s"}
    if ran.returncode != 0:
        return {"failed": (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1][:200]}
    return json.loads(ran.stdout)


def bounded(gib):
    resource.setrlimit(resource.RLIMIT_AS, (gib << 30, gib << 30))


def ask_program(told, number):
    import pyarrow.parquet
    import questions

    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/answer.parquet"
        command = [told.program, "sql", questions.statements(ROOT)[number - 1], "--home", told.home, "--out", out, "--quiet"]
        begun = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=lambda: bounded(told.memory_gib))
        alarm = signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.alarm(told.timeout_s)
        _, status, usage = os.wait4(child.pid, 0)
        took = time.monotonic() - begun
        signal.alarm(0)
        signal.signal(signal.SIGALRM, alarm)
        if status != 0:
            return {"failed": child.stderr.read().decode().strip()[:200] or f"status {status}"}
        return {"s": took, "rows": pyarrow.parquet.read_metadata(out).num_rows, "peak_mib": usage.ru_maxrss >> 10}


def ask_here(told, engine, number):
    """In this process, which is for one question alone."""
    import questions

    bounded(told.memory_gib)
    lake = f"{told.home}/lake"
    if engine in ("polars", "pandas"):
        import with_pandas, with_polars

        function = {"polars": with_polars, "pandas": with_pandas}[engine].ANSWERS[number - 1]
        begun = time.monotonic()
        rows = len(function(lake))
    else:
        import adbc_driver_flightsql.dbapi, datafusion, deltalake, duckdb

        statement = questions.statements(ROOT)[number - 1]
        begun = time.monotonic()
        engines = {"duckdb": questions.of_duckdb, "datafusion": questions.of_datafusion, "flight sql": questions.of_flight}
        rows = engines[engine](told.address.replace("http://", "grpc://") if engine == "flight sql" else lake)(statement).num_rows
    took = time.monotonic() - begun
    print(json.dumps({"s": took, "rows": rows, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}))


def ask_ballista(told):
    """All questions, asked of one cluster: seconds and rows of each."""
    import questions

    with tempfile.TemporaryDirectory() as folder:
        haat(told, "lake", "files", "--to", f"{folder}/snapshot")
        files = [pathlib.Path(folder, f"{number}.sql") for number in range(1, 13)]
        for file, statement in zip(files, questions.statements(ROOT)):
            file.write_text(statement.rstrip().rstrip(";") + ";\n")
        command = [ROOT / "deploy/ballista/run", "ask", f"{folder}/snapshot", *files]
        ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"BALLISTA_TIMES": f"{folder}/times"})
        times = pathlib.Path(folder, "times").read_text().split("\n")
        answers = [json.loads(line) for line in ran.stdout.splitlines()]
        failed = (ran.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        return [
            {"failed": failed} if rows is None or not took else {"s": float(took), "rows": len(rows)}
            for took, rows in zip(times, answers)
        ]


def table(figures, engines):
    cell = lambda figure: "–" if "s" not in figure else f"{figure['s']:.2f}"
    print("\n| question | rows | " + " | ".join(f"{engine}, s" for engine in engines) + " |")
    print("|---" * (len(engines) + 2) + "|")
    first = engines[0]
    for number in range(1, 13):
        of = {engine: figures[number, engine] for engine in engines}
        base = of[first].get("s")
        times = [cell(of[engine]) + (f" ({of[engine]['s'] / base:.2f} ×)" if base and "s" in of[engine] and engine != first else "") for engine in engines]
        print(f"| {number} | {of[first].get('rows', '–')} | " + " | ".join(times) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--home", required=True)
    parser.add_argument("--products", type=int, default=200_000)
    parser.add_argument("--stores", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--timeout-s", type=int, default=300)
    parser.add_argument("--memory-gib", type=int, default=14)
    parser.add_argument("--engines", default=",".join(ENGINES), help="those that are asked; the others are compared with the first")
    parser.add_argument("--ballista", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--address", default="", help=argparse.SUPPRESS)
    told = parser.parse_args()
    told.program = os.path.abspath(told.program)
    if told.one:
        return ask_here(told, told.one[0], int(told.one[1]))
    engines = told.engines.split(",")
    if unknown := set(engines) - set(ENGINES):
        parser.error(f"--engines: {', '.join(unknown)}; there are {', '.join(ENGINES)}")
    fill(told)
    server, served = serving(told, "lake", "serve")
    figures = {}
    try:
        for number in range(1, 13):
            # In turn, so that what else the machine does meets all of them.
            runs = [{engine: ask(told, engine, number, served["address"]) for engine in engines} for _ in range(told.runs)]
            for engine in engines:
                # A question that fails once has failed.
                best = min((run[engine] for run in runs), key=lambda run: run.get("s", -1.0))
                figures[number, engine] = best
                print(json.dumps({"question": number, "engine": engine} | best), flush=True)
            counts = {figure["rows"] for figure in (figures[number, engine] for engine in engines) if "rows" in figure}
            if len(counts) > 1:
                raise SystemExit(f"question {number}: engines differ in rows: {counts}")
    finally:
        stopped(server)
    table(figures, engines + with_ballista(told, figures, engines[0]))


def with_ballista(told, figures, first):
    """Adds Ballista's figures, if they are asked for."""
    if not told.ballista:
        return []
    runs = [ask_ballista(told) for _ in range(told.runs)]
    for number, of_runs in enumerate(zip(*runs), 1):
        best = min(of_runs, key=lambda run: run.get("s", -1.0))
        expected = figures[number, first].get("rows")
        if expected is not None and best.get("rows", expected) != expected:
            raise SystemExit(f"question {number}: ballista has {best['rows']} rows, {first} {expected}")
        figures[number, "ballista"] = best
        print(json.dumps({"question": number, "engine": "ballista"} | best), flush=True)
    return ["ballista"]


if __name__ == "__main__":
    main()
