#!/usr/bin/env python3
"""Turns a catalogue of JSON lines into folders of recorded pages, one a store, so that haat can crawl what a peer indexes.

    stores.py CATALOGUE.jsonl FOLDER

Each line: id, title, description, brand, domain, product_type, tags, price, compare_at, currency, in_stock, sizes,
created_at (seconds). The folder is what `haat emulate --recorded` and `haat demo --recorded` take."""
import collections, datetime, json, os, sys

PAGE = 250


def product(row):
    at = datetime.datetime.fromtimestamp(row["created_at"], datetime.timezone.utc).isoformat()
    price = f'{row["price"]:.2f}'
    before = row["compare_at"] and f'{row["compare_at"]:.2f}'
    sizes = row["sizes"] or ["Default Title"]
    variants = [
        {"id": row["id"] * 100 + n, "title": size, "option1": size, "option2": None, "option3": None, "sku": None,
         "requires_shipping": True, "taxable": True, "featured_image": None, "available": row["in_stock"],
         "price": price, "grams": 0, "compare_at_price": before, "position": n, "product_id": row["id"],
         "created_at": at, "updated_at": at}
        for n, size in enumerate(sizes, 1)
    ]
    handle = "".join(c if c.isalnum() else "-" for c in row["title"].lower())
    return {"id": row["id"], "title": row["title"], "handle": f'{handle}-{row["id"]}', "body_html": row["description"],
            "published_at": at, "created_at": at, "updated_at": at, "vendor": row["brand"],
            "product_type": row["product_type"], "tags": row["tags"], "variants": variants, "images": [],
            "options": [{"name": "Size", "position": 1, "values": sizes}]}


def main(catalogue, folder):
    stores = collections.defaultdict(list)
    with open(catalogue) as lines:
        for line in lines:
            row = json.loads(line)
            stores[row["domain"]].append(row)
    for domain, rows in stores.items():
        store = os.path.join(folder, domain)
        os.makedirs(store)
        meta = {"id": 1, "name": rows[0]["brand"], "domain": domain, "currency": rows[0]["currency"], "country": "US",
                "myshopify_domain": f'{domain.split(".")[0]}.myshopify.com', "published_products_count": len(rows)}
        with open(os.path.join(store, "meta.json"), "w") as out:
            json.dump(meta, out)
        for page, at in enumerate(range(0, len(rows), PAGE), 1):
            with open(os.path.join(store, f"products-{page}.json"), "w") as out:
                json.dump({"products": [product(row) for row in rows[at:at + PAGE]]}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
