"""Fits the rows of the table so that the sum over a text's pieces points where the base model's vector points."""

import random
import time

import numpy as np
import torch
from torch.nn import functional as F

SHARPNESS = 20.0


def projection(targets, dimensions):
    """The directions that keep most of the targets' lengths"""
    moment = targets.T.astype(np.float64) @ targets
    values, vectors = np.linalg.eigh(moment)
    return vectors[:, ::-1][:, :dimensions].astype(np.float32), values[::-1][:dimensions].sum() / values.sum()


class Table(torch.nn.Module):
    """row = weight of the piece × (base row × map + shift) + own change; map and shift move rows that no text holds"""

    def __init__(self, base, weight):
        super().__init__()
        count, dimensions = base.shape
        self.base = torch.tensor(base)
        self.weight = torch.nn.Embedding(count, 1, sparse=True)
        self.weight.weight.data = torch.tensor(np.log(weight), dtype=torch.float32)[:, None]
        self.start = self.weight.weight.data.clone()
        self.map = torch.nn.Parameter(torch.eye(dimensions))
        self.shift = torch.nn.Parameter(torch.zeros(dimensions))
        self.change = torch.nn.Embedding(count, dimensions, sparse=True)
        torch.nn.init.zeros_(self.change.weight)

    def rows(self, pieces):
        change, weight = self.change(pieces), self.weight(pieces)
        rows = weight.exp() * (self.base[pieces] @ self.map + self.shift + change)
        return rows, change.square().sum(1).mean(), (weight - self.start[pieces]).square().mean()

    def forward(self, texts):
        flat = torch.tensor([i for t in texts for i in t])
        offsets = torch.tensor(np.cumsum([0] + [len(t) for t in texts[:-1]]))
        pieces, where = torch.unique(flat, return_inverse=True)
        rows, change, weight = self.rows(pieces)
        return F.normalize(F.embedding_bag(where, rows, offsets, mode="sum"), dim=1), change, weight

    def all_rows(self):
        with torch.no_grad():
            return self.rows(torch.arange(len(self.base)))[0].numpy()


def neighbours(targets, seed, middles=600):
    """For each text the nearest of some texts drawn at random: what has the same is alike"""
    g = torch.Generator().manual_seed(seed)
    middle = targets[torch.randperm(len(targets), generator=g)[:middles]]
    return torch.cat([(part @ middle.T).argmax(1) for part in targets.split(8192)]).tolist()


def found(table, pairs):
    """How badly searches find the titles of their things among all the titles here; things of one noun do not compete"""
    searches = table([p[0] for p in pairs])[0]
    titles = table([p[1] for p in pairs])[0]
    noun = torch.tensor([p[2] for p in pairs])
    other = (noun[:, None] == noun[None, :]) & ~torch.eye(len(pairs), dtype=torch.bool)
    scores = (searches @ titles.T * SHARPNESS).masked_fill(other, -1e9)
    return F.cross_entropy(scores, torch.arange(len(pairs)))


def fit(table, texts, targets, projected, pairs, seed, passes=6, batch=512, pace=2e-3):
    """texts: pieces of each text; targets: unit vectors of the base model; projected: the same in the table's dimensions;
    pairs: (pieces of a search, pieces of a title, number of the noun)

    The loss: distance to the base model's vector; distance to its order of the texts of a batch, every other pass of which
    are alike, so that small differences count; searches that find other titles than theirs; and how far rows were moved."""
    rnd = random.Random(seed)
    torch.manual_seed(seed)
    targets, projected = torch.tensor(targets), F.normalize(torch.tensor(projected), dim=1)
    usable = [i for i, t in enumerate(texts) if t]
    held = usable[::60]
    train = sorted(set(usable) - set(held))
    near = neighbours(targets, seed)
    sparse = torch.optim.SparseAdam([*table.weight.parameters(), *table.change.parameters()], lr=pace)
    dense = torch.optim.Adam([table.map, table.shift], lr=pace / 4)
    steps, step, start = passes * (len(train) // batch), 0, time.time()
    for turn in range(passes):
        rnd.shuffle(train)
        if turn % 2 == 0:
            train.sort(key=lambda i: near[i])
            parts = [train[k : k + 32] for k in range(0, len(train), 32)]
            rnd.shuffle(parts)
            train = [i for part in parts for i in part]
        total = 0.0
        for k in range(0, len(train) - batch + 1, batch):
            chosen = train[k : k + batch]
            made, change, weight = table([texts[i] for i in chosen])
            alike = (1 - (made * projected[chosen]).sum(1)).mean()
            with torch.no_grad():
                wanted = torch.softmax(targets[chosen] @ targets[chosen].T * SHARPNESS, 1)
            order = -(wanted * torch.log_softmax(made @ made.T * SHARPNESS, 1)).sum(1).mean()
            cross = -(wanted * torch.log_softmax(made @ projected[chosen].T * SHARPNESS, 1)).sum(1).mean()
            lost = found(table, rnd.sample(pairs, 256))
            loss = alike + 0.5 * (order + cross) + 0.3 * lost + 0.02 * change + 0.01 * weight
            for optimiser, top in ((sparse, pace), (dense, pace / 4)):
                for group in optimiser.param_groups:
                    group["lr"] = top * (1 - 0.95 * step / steps)
                optimiser.zero_grad()
            loss.backward()
            sparse.step()
            dense.step()
            step += 1
            total += loss.item()
        with torch.no_grad():
            cosine = float((table([texts[i] for i in held])[0] * projected[held]).sum(1).mean())
        spent = time.time() - start
        print(f"  pass {turn + 1}: loss {total * batch / len(train):.4f}, held-out cosine {cosine:.4f}, {spent:.0f} s", flush=True)
    return cosine
