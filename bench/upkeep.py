#!/usr/bin/env python3
"""Draws what a crawl costs over a year of them, from what the test `a_thousand_crawls_of_a_year` left.

    upkeep.py OUT.svg target/tmp/year.csv

Needs matplotlib."""
import csv, sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt


def main(out, path):
    with open(path) as lines:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(lines)]
    plt.rcParams.update({"svg.hashsalt": "haat", "svg.fonttype": "none", "font.size": 9})
    drawing, plots = plt.subplots(2, 2, figsize=(11, 6), sharex=True)
    crawls = [row["crawl"] for row in rows]
    smooth = lambda values: [sum(values[max(0, at - 15) : at + 1]) / len(values[max(0, at - 15) : at + 1]) for at in range(len(values))]
    shown = [
        ("requests of a crawl and its build", [("requests", "mean of 16")], 1),
        ("CPU of a crawl and its build, ms", [("cpu_ms", "mean of 16")], 1),
        ("objects", [("lake_files", "lake"), ("release_files", "releases")], 1),
        ("MiB", [("bytes", "home"), ("present_bytes", "without histories and runs")], 1 / 2**20),
    ]
    for plot, (title, lines, scale) in zip(plots.flat, shown):
        for name, label in lines:
            values = [row[name] * scale for row in rows]
            if "mean" in label:
                values = smooth(values)
            plot.plot(crawls, values, label=label, linewidth=1)
        plot.set(title=title, ylim=(0, None))
        plot.legend(fontsize=7)
    for plot in plots[1]:
        plot.set(xlabel="crawls")
    drawing.tight_layout()
    drawing.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
