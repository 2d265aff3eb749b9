#!/usr/bin/env python3
"""Two builds of `haat` in turn over the pipeline, by the CPU time of their processes.

    programs.py BEFORE AFTER [--products 20000] [--stores 100] [--turns 5]

BEFORE and AFTER are paths of two `haat` binaries. Both crawl the same emulated stores, each into homes of its own: a first
crawl, a crawl of unchanged stores, a full build; then, some time later for the stores, a crawl of what changed, an
incremental build, and the start of a query server until it is ready. Prints a line of JSON for each step: the least CPU
time of all turns for each program, and `ratio` of the second's to the first's; `median_ratio` is that of the turns' pairs.
It needs nothing but Python, asks only this machine, and removes its homes.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

READY_S = 60


def environment(home):
    return os.environ | {
        "HAAT_HOME": str(home),
        "HAAT_STOREFRONT__ALLOW_LOOPBACK": "true",
        "HAAT_STOREFRONT__RATE_START_PER_S": "1e9",
        "HAAT_LOG__FILTER": "error",
    }


def cpu_of(program, home, *args):
    """User and system time of a command that ran to its end, in seconds."""
    process = subprocess.Popen([program, "--json", "--quiet", *args], env=environment(home), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        sys.exit(f"{program} {' '.join(args)} ended with {code}")
    return usage.ru_utime + usage.ru_stime


def cpu_until_ready(program, home):
    """User and system time of a query server from its start until it serves a release."""
    command = [program, "--json", "query-server", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, env=environment(home), stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(process.stdout.readline())["address"]
        until = time.monotonic() + READY_S
        while True:
            try:
                urllib.request.urlopen(f"{address}/readyz", timeout=1).close()
                break
            except OSError:
                if time.monotonic() > until:
                    sys.exit(f"{program} query-server was not ready within {READY_S} s")
                time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGINT)
        _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


class Stores:
    """Emulated stores at an epoch, until the block ends."""

    def __init__(self, program, options, port, epoch):
        command = [program, "--json", "emulate", "--listen", f"127.0.0.1:{port}", "--epoch", str(epoch), "--identity"]
        command += ["--products", str(options.products), "--stores", str(options.stores)]
        command += ["--drift", "stores=50"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return [store["base_url"] for store in json.loads(self.process.stdout.readline())["stores"]]

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def in_turn(programs, turns, step):
    """By program: what `step` measures, the programs alternating."""
    measured = ([], [])
    for turn in range(turns):
        for which in (0, 1) if turn % 2 else (1, 0):
            measured[which].append(step(programs[which], which, turn))
    return measured


def told(name, measured):
    before, after = measured
    ratios = [new / old for old, new in zip(before, after) if old > 0]
    line = {"step": name, "turns": len(before), "before_cpu_s": round(min(before), 3), "after_cpu_s": round(min(after), 3)}
    line["ratio"] = round(min(after) / min(before), 3)
    line["median_ratio"] = round(statistics.median(ratios), 3)
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--products", type=int, default=20_000)
    parser.add_argument("--stores", type=int, default=100)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--port", type=int, default=18_080, help="where the emulated stores listen")
    options = parser.parse_args()
    programs = [str(Path(program).resolve()) for program in (options.before, options.after)]
    folder = Path(tempfile.mkdtemp(prefix="haat-programs-"))
    home = lambda which, turn: folder / f"{which}-{turn}"
    try:
        with Stores(programs[0], options, options.port, 0) as urls:
            registered = folder / "registered"
            cpu_of(programs[0], registered, "brands", "add", *urls)
            for which in (0, 1):
                for turn in range(options.turns):
                    home(which, turn).mkdir()
                    shutil.copytree(registered / "registry", home(which, turn) / "registry")
            step = lambda *args: lambda program, which, turn: cpu_of(program, home(which, turn), *args)
            told("first crawl", in_turn(programs, options.turns, step("crawl")))
            told("unchanged crawl", in_turn(programs, options.turns, step("crawl")))
            told("full build", in_turn(programs, options.turns, step("release", "build")))
        with Stores(programs[0], options, options.port, 1):
            told("crawl of what changed", in_turn(programs, options.turns, step("crawl")))
            told("incremental build", in_turn(programs, options.turns, step("release", "build")))
        opened = lambda program, which, turn: cpu_until_ready(program, home(which, turn))
        told("start to ready", in_turn(programs, options.turns, opened))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
