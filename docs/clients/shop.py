"""From a sentence to the brands' own checkouts, with Python's standard library alone.

    python3 shop.py http://127.0.0.1:8080 KEY "running shoes for men under 4000"

Prints what it does, and one checkout link a brand as its last lines.
"""

import json
import sys
import urllib.error
import urllib.request
import uuid
from urllib.parse import urlencode, urljoin


class Market:
    """A market, asked with a key."""

    def __init__(self, base: str, key: str) -> None:
        self.base = base
        self.key = key

    def ask(self, method: str, href: str, body: dict | None = None) -> dict:
        """Sends a request; `href` is a path of the market or an absolute address. Answers the envelope."""
        headers = {"X-Service-Key": self.key, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            # The same request sent again, after a broken connection, does nothing twice.
            headers["Idempotency-Key"] = str(uuid.uuid4())
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(urljoin(self.base, href), data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {href}: {error.code} {error.read().decode()}") from error


def amount(minor: int, currency: str) -> str:
    """An amount as people read it. Currencies without two decimals are few; ISO 4217 lists them."""
    return f"{currency} {minor / 100:,.2f}"


def main(base: str, key: str, sentence: str) -> None:
    market = Market(base, key)

    # Words alone: the search.
    found = market.ask("GET", "/v1/search?" + urlencode({"q": sentence, "limit": 3, "in_stock": "true"}))
    for card in found["data"]:
        print("found:", card["title"], "from", card["brand"])

    # A sentence with its limits: discovery. Each product comes with the request that buys it; what misses a limit says so.
    answer = market.ask("POST", "/v1/discover", {"query": sentence, "limit": 3})
    print("understood:", json.dumps(answer["provenance"]["intent"], ensure_ascii=False))
    fitting = [item for item in answer["data"] if not item["misses"]]
    if not fitting:
        raise SystemExit(f"nothing keeps to the sentence: {answer['provenance']['left_out']}")
    chosen = fitting[0]
    print("chosen:", chosen["title"], "from", chosen["brand"])
    print("why:", chosen["why"])

    # Stored prices may be old: the brand's own store says what it costs now.
    price = market.ask("GET", f"/v1/products/{chosen['id']}/price")["data"]
    if not price["verified"]:
        raise SystemExit("the store did not confirm its price; try again later")
    print("price now:", amount(price["price_min_minor"], price["currency"]))

    # A cart, with the request exactly as it was given.
    add = chosen["add_to_cart"]
    cart = market.ask(add["method"], add["href"], add["body"])["data"]
    for problem in cart["problems"]:
        print("problem:", problem["detail"])
    for total in cart["totals"]:
        print("total:", amount(total["total_minor"], total["currency"]))

    # Each brand's own checkout; the buyer pays there.
    checkout = market.ask("POST", "/v1/checkout", {"cart_id": cart["cart_id"]})["data"]
    for link in checkout["checkouts"]:
        print("checkout:", link["brand_slug"], link["checkout_url"])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
