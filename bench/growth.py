#!/usr/bin/env python3
"""Draws how each read's cost grows with the catalogue, from what `bench reads` printed at several sizes.

    growth.py OUT.svg 100000=reads-100k.json 200000=reads-200k.json 1000000=reads-1m.json

Needs matplotlib."""
import json, sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SHOWN = ["product", "suggest", "browse_brand", "browse_category", "lexical", "semantic", "hybrid", "hybrid_facets", "hybrid_filtered"]


def main(out, *runs):
    sizes, figures = [], []
    for run in runs:
        size, path = run.split("=", 1)
        sizes.append(int(size))
        with open(path) as lines:
            figures.append({figure["name"]: figure["value"] for figure in map(json.loads, lines)})
    plt.rcParams.update({"svg.hashsalt": "haat", "svg.fonttype": "none", "font.size": 9})
    drawing, (cpu, memory) = plt.subplots(1, 2, figsize=(11, 4.4))
    # The machine is not equally fast from one size to the next: each figure is told beside one of its own run.
    for name in SHOWN:
        shares = [figure[f"reads.{name}.server_cpu_us"] / figure["reads.nothing.server_cpu_us"] for figure in figures]
        cpu.plot(sizes, shares, marker="o", label=name)
    cpu.set(xscale="log", yscale="log", xlabel="products", ylabel="server CPU, times that of /healthz", title="CPU")
    cpu.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    for name, label in [("memory_own_mib", "own"), ("memory_mapped_mib", "mapped")]:
        per_product = [figure[f"reads.{name}"] * 2**20 / size for figure, size in zip(figures, sizes)]
        memory.plot(sizes, per_product, marker="o", label=f"{label} memory")
    memory.set(xscale="log", xlabel="products", ylabel="bytes a product", title="Memory", ylim=(0, None))
    ready = memory.twinx()
    ready.plot(sizes, [figure["reads.start_to_ready_ms"] for figure in figures], marker="s", color="grey", label="start to ready")
    ready.set(ylabel="ms from start to ready", ylim=(0, None))
    memory.legend(loc="center", fontsize=7)
    ready.legend(loc="center left", fontsize=7)
    drawing.tight_layout()
    drawing.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
