"""The files of a table: vocab.txt and table.bin, eight bits a value with a scale a row."""

import hashlib
import struct
from pathlib import Path

import numpy as np

MAGIC = b"HAATEMB1"


def write(folder, vocabulary, rows):
    folder = Path(folder)
    scale = np.abs(rows).max(1) / 127
    scale[scale == 0] = 1
    values = np.rint(rows / scale[:, None]).clip(-127, 127).astype(np.int8)
    table = MAGIC + struct.pack("<II", *rows.shape) + scale.astype("<f4").tobytes() + values.tobytes()
    words = ("\n".join(vocabulary) + "\n").encode()
    (folder / "table.bin").write_bytes(table)
    (folder / "vocab.txt").write_bytes(words)
    return {"table_sha256": hashlib.sha256(table).hexdigest(), "vocab_sha256": hashlib.sha256(words).hexdigest()}


def read(folder):
    """(vocabulary, rows as f32)"""
    folder = Path(folder)
    table = (folder / "table.bin").read_bytes()
    count, dimensions = struct.unpack("<II", table[8:16])
    assert table[:8] == MAGIC and len(table) == 16 + count * (4 + dimensions)
    scale = np.frombuffer(table, "<f4", count, 16)
    values = np.frombuffer(table, np.int8, count * dimensions, 16 + 4 * count).reshape(count, dimensions)
    vocabulary = (folder / "vocab.txt").read_text().splitlines()
    assert len(vocabulary) == count
    return vocabulary, values * scale[:, None]
