#!/usr/bin/env python3
"""Two running query servers beside each other, forty queries asked of one and then of the other, by the CPU time of their processes.

    turns.py CATALOGUE.jsonl QUERIES.jsonl http://HOST:PORT PID http://HOST:PORT PID [ROUNDS]

The first is the baseline: serve the same products with the program before and the one after. CATALOGUE and QUERIES are those
of `search.py`. Of each forty queries the least of ROUNDS askings counts (5), for what else the machine does only adds. Prints a line
of JSON for each mode, with `ratio` of the second's time to the first's. Where a process's memory lies moves figures by
several per cent: start both anew and measure again before a small difference is believed.
"""

import json
import sys
import time

from search import categories_of, lines, server_search

MODES = {"lexical": {"mode": "lexical"}, "hybrid": {}, "hybrid_facets": {"facet_counts": "true"}}


# Queries of a turn: what a process did last is charged to it when it falls asleep, so that a single query may be told
# as nothing and the next as two.
GROUP = 40
SETTLED_S = 0.001


def least(asks, clocks, queries, rounds):
    """By server: the least time of each group of queries, in nanoseconds."""
    groups = [queries[at : at + GROUP] for at in range(0, len(queries), GROUP)]
    spent = [[sys.maxsize] * len(groups) for _ in asks]

    def clock(which):
        time.sleep(SETTLED_S)
        return time.clock_gettime_ns(clocks[which])

    for turn in range(rounds):
        for at, group in enumerate(groups):
            for which in (0, 1) if (at + turn) % 2 else (1, 0):
                begun = clock(which)
                for one in group:
                    asks[which](one)
                spent[which][at] = min(spent[which][at], clock(which) - begun)
    return spent


def main(catalogue, queries, before, before_pid, after, after_pid, rounds="5"):
    queries, categories = lines(queries), categories_of(before, catalogue)
    # The clock of another process's CPU time, as clock_getcpuclockid(3) makes it.
    clocks = [(~int(pid) << 3) | 2 for pid in (before_pid, after_pid)]
    for mode, parameters in MODES.items():
        asks = [server_search(base, categories, parameters) for base in (before, after)]
        spent = least(asks, clocks, queries, int(rounds))
        before_ms, after_ms = (sum(each) / len(queries) / 1e6 for each in spent)
        print(json.dumps({"mode": mode, "queries": len(queries), "before_cpu_ms": round(before_ms, 4),
                          "after_cpu_ms": round(after_ms, 4), "ratio": round(after_ms / before_ms, 3)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
