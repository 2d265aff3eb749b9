"""Makes vocab.txt, table.bin and embedding.json of the folder above.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python make.py wordnet/usr/share/wordnet

Takes about ten minutes on one core. The same versions on the same kind of processor make the same table."""

import json
import sys
from pathlib import Path

import numpy as np
import torch

import fit
import table
import text
import vocabulary
from teacher import Teacher

SEED = 1
DIMENSIONS = 256
OUT = Path(__file__).resolve().parent.parent


def main(wordnet, out):
    torch.set_num_threads(1)
    rows = text.write(wordnet, SEED, titles=40000, searches=30000, spans=25000)
    searches = text.pairs(SEED + 10, 60000)
    print(f"{len(rows)} texts, {len(searches)} searches with a title", flush=True)

    teacher = Teacher()
    base = vocabulary.base_pieces(teacher.tokenizer)
    pieces = [p for p, _ in base]
    first, last = teacher.tokenizer.cls_token_id, teacher.tokenizer.sep_token_id
    alone = teacher.of_ids([[first, i, last] for _, i in base])
    targets = teacher.vectors([t for _, t in rows])

    directions, kept = fit.projection(targets, DIMENSIONS)
    print(f"{DIMENSIONS} dimensions keep {kept:.3f} of the targets", flush=True)
    # The vocabulary stands in the order of frequency, so a piece's place tells how common it is (Zipf).
    common = 1 / (np.arange(len(base)) + 2) / np.log(len(base))
    rarity = 1e-3 / (1e-3 + common)
    fitted = fit.Table((alone @ directions).astype(np.float32), rarity)
    cut = vocabulary.Pieces(pieces)
    nouns = {n: i for i, n in enumerate(dict.fromkeys(n for _, _, n in searches))}
    asked = cut.ids([s for s, _, _ in searches], 64)
    titles = cut.ids([t for _, t, _ in searches], 64)
    pairs = [(a, b, nouns[n]) for a, b, (_, _, n) in zip(asked, titles, searches) if a and b]
    cosine = fit.fit(fitted, cut.ids([t for _, t in rows], 64), targets, targets @ directions, pairs, SEED)

    sums = table.write(out, pieces, fitted.all_rows())
    about = {
        "id": "haat-static-256-1",
        "dimensions": DIMENSIONS,
        "vocabulary": len(pieces),
        **sums,
        "base": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
        "texts": len(rows),
        "held_out_cosine": round(cosine, 4),
        "seed": SEED,
    }
    (Path(out) / "embedding.json").write_text(json.dumps(about, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else OUT)
