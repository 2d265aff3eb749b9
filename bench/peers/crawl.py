"""What other crawlers make of the same stores: `crawl.py scrapy|dlt|decode SCRATCH URL…`.

Each reads every page of every store's /products.json once and keeps all products: Scrapy as lines of JSON, nine fields
a product; dlt as Parquet, every field; `decode` fetches, parses and keeps nothing. The last line of standard output is
`{"products": N}`. The caller measures the time.
"""

import http.client
import json
import os
import sys
from urllib.parse import urlsplit

import orjson

PAGE = "/products.json?limit=250&page={}"


def pages(base):
    """The pages of one store over one connection."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc)
    number = 1
    while True:
        connection.request("GET", PAGE.format(number))
        products = orjson.loads(connection.getresponse().read())["products"]
        if not products:
            return
        yield products
        number += 1


def decode(_, bases):
    return sum(len(products) for base in bases for products in pages(base))


def with_dlt(scratch, bases):
    os.environ["DLT_DATA_DIR"] = os.path.join(scratch, "state")
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    import dlt

    count = 0

    @dlt.resource(name="products", primary_key="id", write_disposition="append", max_table_nesting=0)
    def products():
        nonlocal count
        for base in bases:
            for page in pages(base):
                count += len(page)
                yield page

    destination = dlt.destinations.filesystem("file://" + os.path.join(scratch, "lake"))
    pipeline = dlt.pipeline("peer", destination=destination, dataset_name="stores")
    pipeline.run(products(), loader_file_format="parquet")
    return count


def with_scrapy(scratch, bases):
    import scrapy
    from scrapy.crawler import CrawlerProcess

    class Stores(scrapy.Spider):
        name = "stores"
        count = 0

        def begin(self):
            for base in bases:
                yield scrapy.Request(base + PAGE.format(1), cb_kwargs={"base": base, "number": 1})

        async def start(self):
            for request in self.begin():
                yield request

        def start_requests(self):
            return self.begin()

        def parse(self, response, base, number):
            products = orjson.loads(response.body)["products"]
            if products:
                following = {"base": base, "number": number + 1}
                yield scrapy.Request(base + PAGE.format(number + 1), cb_kwargs=following)
            Stores.count += len(products)
            for product in products:
                yield {
                    "id": product["id"],
                    "title": product["title"],
                    "vendor": product["vendor"],
                    "product_type": product["product_type"],
                    "tags": product["tags"],
                    "price": product["variants"][0]["price"],
                    "available": any(variant["available"] for variant in product["variants"]),
                    "variants": len(product["variants"]),
                    "image": product["images"][0]["src"] if product["images"] else None,
                }

    process = CrawlerProcess(
        {
            "LOG_LEVEL": "ERROR",
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "FEEDS": {os.path.join(scratch, "products.jsonl"): {"format": "jsonlines"}},
        }
    )
    process.crawl(Stores)
    process.start()
    return Stores.count


if __name__ == "__main__":
    tool, scratch, bases = sys.argv[1], sys.argv[2], sys.argv[3:]
    run = {"decode": decode, "dlt": with_dlt, "scrapy": with_scrapy}[tool]
    print(json.dumps({"products": run(scratch, bases)}))
