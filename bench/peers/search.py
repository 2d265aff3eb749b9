#!/usr/bin/env python3
"""Searches of a running query server beside tantivy on the same products, in turn, by the CPU time of both.

    search.py CATALOGUE.jsonl QUERIES.jsonl http://HOST:PORT PID

CATALOGUE is what `stores.py` made the server's stores from. Each line of QUERIES has `q` and `kind`: `typo` is looked for
with one letter wrong, `prefix` as the beginning of a word, `facet` also has `top_category`, `max_price` and `in_stock`;
any other kind is words. PID is the server's process: its CPU time is the kernel's account of all its threads. tantivy runs
in this process, and its figure is this process's CPU time. Twenty queries are asked of one, then of the other, so that both
meet the same machine. Prints a line of JSON for each mode; needs `tantivy` of requirements.txt.
"""

import http.client
import json
import re
import sys
import time
from urllib.parse import urlencode, urlsplit

import tantivy

BATCH = 20
LIMIT = 20
FIELDS = {"title": 3.0, "brand": 2.0, "product_type": 1.5, "tags": 1.0, "description": 1.0}
COUNTED = ("top_category", "maker", "colour")


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def indexed(catalogue):
    """The catalogue in memory, as tantivy keeps it by default."""
    schema = tantivy.SchemaBuilder()
    for name in FIELDS:
        stored = name in ("title", "brand")
        schema.add_text_field(name, stored=stored, index_option="position" if stored else "freq")
    for name in COUNTED:
        schema.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
    schema.add_float_field("price", stored=True, indexed=True, fast=True)
    schema.add_boolean_field("in_stock", stored=True, indexed=True, fast=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(256 << 20, 1)
    for row in lines(catalogue):
        writer.add_document(tantivy.Document(
            title=row["title"], brand=row["brand"], product_type=row["product_type"],
            tags=" ".join([*row["tags"], row["colour"]]), description=row["description"],
            top_category=row["top_category"], maker=row["brand"], colour=row["colour"],
            price=row["price"], in_stock=row["in_stock"]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def parsed(index, one):
    """The query that tantivy runs for a line of QUERIES."""
    query, occur, schema = tantivy.Query, tantivy.Occur, index.schema
    words = re.findall(r"\w+", one["q"].lower())
    if one["kind"] == "prefix":
        begins = [query.regex_query(schema, field, "".join(words) + ".*") for field in ("title", "brand")]
        return query.boolean_query([(occur.Should, begin) for begin in begins])
    if one["kind"] == "typo":
        near = [[query.fuzzy_term_query(schema, field, word, distance=int(len(word) > 3))
                 for field in ("title", "product_type", "tags")] for word in words]
        return query.boolean_query([(occur.Must, query.disjunction_max_query(fields)) for fields in near])
    found = index.parse_query(" ".join(words), list(FIELDS), FIELDS, conjunction_by_default=True)
    if one["kind"] != "facet":
        return found
    price = query.range_query(schema, "price", tantivy.FieldType.Float, 0.0, one["max_price"])
    return query.boolean_query([(occur.Must, part) for part in (
        found, price, query.term_query(schema, "in_stock", one["in_stock"], "basic"),
        query.term_query(schema, "top_category", one["top_category"], "basic"))])


def tantivy_search(index, facets):
    searcher = index.searcher()
    counts = {name: {"terms": {"field": name, "size": 50}} for name in COUNTED} | {"price": {"stats": {"field": "price"}}}

    def ask(one):
        query = parsed(index, one)
        hits = [searcher.doc(at).to_dict() for _, at in searcher.search(query, LIMIT, count=True).hits]
        if facets:
            searcher.aggregate(query, counts)
        return len(hits)

    return ask


def server_search(base, categories, parameters):
    connection = http.client.HTTPConnection(urlsplit(base).netloc)

    def ask(one):
        asked = {"q": one["q"], "limit": LIMIT} | parameters
        if one["kind"] == "facet":
            asked |= {"facets": json.dumps({"category": categories[one["top_category"]]}), "currency": "USD",
                      "price_max": round(one["max_price"] * 100), "in_stock": str(one["in_stock"]).lower()}
        connection.request("GET", "/v1/search?" + urlencode(asked))
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{answer.status} for {asked}: {body[:300]}")
        return len(json.loads(body)["data"])

    return ask


def categories_of(base, catalogue):
    """The market's top category of most products of each of the catalogue's."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc)
    best = {}
    for top in sorted({row["top_category"] for row in lines(catalogue)}):
        connection.request("GET", "/v1/search?" + urlencode({"q": top, "limit": 1, "facet_counts": "true"}))
        facets = json.loads(connection.getresponse().read())["provenance"]["facets"]
        counted = next((facet["values"] for facet in facets if facet["name"] == "category"), [])
        best[top] = max(counted, key=lambda value: value["count"], default={"value": "apparel-accessories"})["value"]
    return best


def main(catalogue, queries, base, pid):
    index, queries = indexed(catalogue), lines(queries)
    categories = categories_of(base, catalogue)
    # The clock of another process's CPU time, as clock_getcpuclockid(3) makes it.
    clocks = {"tantivy": time.CLOCK_PROCESS_CPUTIME_ID, "server": (~int(pid) << 3) | 2}
    modes = {"lexical": {"mode": "lexical"}, "hybrid": {}, "hybrid_facets": {"facet_counts": "true"}}
    for mode, parameters in modes.items():
        asks = {"tantivy": tantivy_search(index, "facet_counts" in parameters),
                "server": server_search(base, categories, parameters)}
        spent, empty = dict.fromkeys(asks, 0), dict.fromkeys(asks, 0)
        for ask in asks.values():
            for one in queries[:200]:
                ask(one)
        for at in range(0, len(queries), BATCH):
            for name, ask in asks.items():
                begun = time.clock_gettime_ns(clocks[name])
                found = [ask(one) for one in queries[at:at + BATCH]]
                spent[name] += time.clock_gettime_ns(clocks[name]) - begun
                empty[name] += found.count(0)
        each = {name: round(ns / len(queries) / 1e6, 4) for name, ns in spent.items()}
        print(json.dumps({"mode": mode, "queries": len(queries), "server_cpu_ms": each["server"],
                          "tantivy_cpu_ms": each["tantivy"], "ratio": round(spent["server"] / spent["tantivy"], 3),
                          "server_empty": empty["server"], "tantivy_empty": empty["tantivy"]}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
