"""The text that the table is fitted to: names of goods, invented titles, short searches and dictionary entries.

Nothing here is taken from a shop: goods.txt and style.txt were written for this project, the category phrases are
haat's own (data/reference/categories.tsv), and the dictionary is WordNet 3.0."""

import random
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
CATEGORIES = HERE.parent.parent / "categories.tsv"
# WordNet's lexicographer files whose nouns are sold: animal, artifact, body, food, object, plant, shape, substance.
SOLD = {5: 4, 6: 1, 8: 3, 13: 1, 17: 6, 20: 6, 25: 3, 27: 2}  # file -> every how many of its entries


def phrases(text):
    return [p.strip() for p in text.split(",") if p.strip()]


def goods():
    """[(brands, nouns, qualifiers)] of goods.txt"""
    rows = []
    for line in (HERE / "goods.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            brands, nouns, qualifiers = line.split(" : ")
            rows.append((phrases(brands) if brands != "-" else [], phrases(nouns), phrases(qualifiers)))
    return rows


def style():
    rows = (line.split(" : ", 1) for line in (HERE / "style.txt").read_text().splitlines() if not line.startswith("#"))
    return {name: phrases(text) for name, text in rows}


def categories():
    """[(path, phrase, context words)] of haat's category rules"""
    rows, path = [], ""
    for line in CATEGORIES.read_text().splitlines():
        if line.startswith("#") or "\t" not in line:
            continue
        head, text = line.split("\t", 1)
        path = head or path
        for item in phrases(text):
            m = re.match(r"[~=*!]*([^\[]+?)\s*(?:\[(.*)\])?$", item)
            if m:
                rows.append((path, m.group(1), (m.group(2) or "").split()))
    return rows


def wordnet(folder):
    """(names, glosses) of the nouns that are sold, most of WordNet's artifacts and foods among them"""
    names, glosses, seen = [], [], {}
    for line in (Path(folder) / "data.noun").read_text().splitlines():
        if line.startswith("  "):
            continue
        data, gloss = line.split(" | ", 1)
        field = data.split(" ")
        lex = int(field[1])
        if lex not in SOLD:
            continue
        seen[lex] = seen.get(lex, 0) + 1
        if seen[lex] % SOLD[lex]:
            continue
        count = int(field[3], 16)
        words = [field[4 + 2 * i].replace("_", " ") for i in range(count)]
        names += words[:3]
        short = re.split(r";|\"", gloss)[0]
        short = " ".join(re.sub(r"\(.*?\)", "", short).split()[:12])
        if short:
            glosses.append((words[0] + ": " if len(glosses) % 2 else "") + short)
    return names, glosses


class Writer:
    """Invents titles and searches; the same seed writes the same text."""

    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.style = style()
        self.groups = goods()
        self.known = [r for r in categories() if len(r[1]) > 3]

    def one(self, name):
        return self.rnd.choice(self.style[name])

    def size(self):
        n = self.rnd.choice([1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 30, 32, 36, 40, 48, 50, 60, 72, 100, 250, 500])
        return self.one("units").replace("{n}", str(n)).replace("{m}", str(self.rnd.choice([2, 4, 6, 8, 12, 18, 24, 36, 80])))

    def product(self):
        """brand, qualifiers, noun of one thing; half from goods.txt, half from the category phrases"""
        rnd = self.rnd
        if rnd.random() < 0.6:
            brands, nouns, qualifiers = rnd.choices(self.groups, weights=[len(g[1]) for g in self.groups])[0]
            own = rnd.sample(qualifiers, rnd.randint(1, 3))
            return rnd.choice(brands) if brands else "", own, rnd.choice(nouns)
        _, noun, context = rnd.choice(self.known)
        if context and rnd.random() < 0.7:
            noun = f"{rnd.choice(context)} {noun}"
        own = rnd.sample(self.style["features"] + self.style["materials"], rnd.randint(0, 2))
        brand = rnd.choice(rnd.choice(self.groups)[0] or [""]) if rnd.random() < 0.3 else ""
        return brand, own, noun

    def title(self, product=None):
        rnd = self.rnd
        brand, own, noun = product or self.product()
        before, after = [], []
        for word in own:
            (before if rnd.random() < 0.65 else after).append(word)
        if rnd.random() < 0.35:
            before.append(self.one("features"))
        if rnd.random() < 0.2:
            before.append(self.one("materials"))
        if rnd.random() < 0.4:
            (before if rnd.random() < 0.5 else after).append(self.size())
        if rnd.random() < 0.35:
            colour = self.one("colours")
            if rnd.random() < 0.4:
                before.append(colour)
            else:
                after.append(f"in {colour}" if rnd.random() < 0.5 else colour)
        if rnd.random() < 0.2:
            after.append(f"with {self.one('parts')}")
        if rnd.random() < 0.2:
            after.append(f"for {self.one('audience')}")
        rnd.shuffle(before)
        glue = rnd.choice([" ", " ", ", ", " - "])
        head = " ".join(x for x in [brand, *before, noun] if x)
        return head + ("" if not after else glue + glue.join(after))

    def search(self, product=None):
        rnd = self.rnd
        brand, own, noun = product or self.product()
        kind = rnd.random()
        if kind < 0.3:
            return f"{own[0]} {noun}" if own else noun
        if kind < 0.5:
            return f"{brand or self.one('colours')} {noun}"
        if kind < 0.6:
            return f"{noun} for {self.one('audience')}"
        if kind < 0.7:
            return f"{noun} {brand or self.one('features')}".strip()
        if kind < 0.8:
            return f"{self.size()} {noun}"
        if kind < 0.9:
            return f"{self.one('features')} {noun}"
        return f"{self.one('materials')} {noun}"

    def span(self, text):
        words = re.findall(r"[\w'-]+", text)
        n = self.rnd.randint(1, 4)
        start = self.rnd.randint(0, max(0, len(words) - n))
        return " ".join(words[start : start + n]).lower()


def pairs(seed, count):
    """[(search, title, noun)]: a search for a thing and a title of that thing"""
    w = Writer(seed)
    rows = []
    for _ in range(count):
        product = w.product()
        search = w.search(product) if w.rnd.random() < 0.6 else product[2]
        rows.append((search, w.title(product), product[2]))
    return rows


def write(folder, seed, titles, searches, spans):
    """Every text once, in the order of its kinds: [(kind, text)]"""
    w = Writer(seed)
    names, glosses = wordnet(folder)
    rows = [("noun", n) for _, nouns, _ in w.groups for n in nouns]
    rows += [("brand", b) for brands, _, _ in w.groups for b in brands]
    rows += [("quality", q) for _, _, qualities in w.groups for q in qualities]
    rows += [("quality", p) for name, items in w.style.items() if name != "units" for p in items]
    rows += [("noun", n) for _, n, _ in categories()]
    rows += [("noun", f"{c} {n}") for _, n, context in categories() for c in context[:2]]
    for path in dict.fromkeys(p for p, _, _ in categories() if p not in "+-"):
        level = path.split(" > ")
        rows += [("category", level[-1]), ("category", " ".join(level[-2:]))]
    rows += [("name", n) for n in names] + [("gloss", g) for g in glosses]
    made = [w.title() for _ in range(titles)]
    rows += [("title", t) for t in made]
    rows += [("search", w.search()) for _ in range(searches)]
    rows += [("span", w.span(w.rnd.choice(made))) for _ in range(spans)]
    seen, out = set(), []
    for kind, text in rows:
        key = text.lower()
        if key and key not in seen:
            seen.add(key)
            out.append((kind, text))
    return out
