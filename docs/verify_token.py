"""Verifies a token of haat, a quote or the attribution of a checkout, with the package cryptography.

python3 verify_token.py ISSUER TYP TOKEN    (ISSUER: the market's public address, such as https://market.example)
"""

import base64
import json
import sys
import time
import urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def verified(issuer, typ, token):
    """The claims; None where the token does not hold."""
    head, body, signature = token.split(".")
    header, claims = json.loads(decoded(head)), json.loads(decoded(body))
    with urllib.request.urlopen(f"{issuer}/.well-known/jwks.json") as answer:
        keys = {key["kid"]: key for key in json.load(answer)["keys"]}
    jwk = keys.get(header["kid"])
    if jwk is None or header["alg"] != "EdDSA" or header["typ"] != typ:
        return None
    try:
        Ed25519PublicKey.from_public_bytes(decoded(jwk["x"])).verify(decoded(signature), f"{head}.{body}".encode())
    except InvalidSignature:
        return None
    return claims if claims["iss"] == issuer and claims["exp"] > time.time() else None


if __name__ == "__main__":
    claims = verified(*sys.argv[1:])
    print(json.dumps({"holds": claims is not None, "claims": claims}))
    sys.exit(claims is None)
