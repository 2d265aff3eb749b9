"""Verifies a token of haat, a quote or the attribution of a checkout, with the package cryptography.

python3 verify_token.py ISSUER TYP TOKEN    (ISSUER: the market's public address, such as https://market.example)
"""

import base64
import json
import sys
import time
import urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def check(jwk, signature, text):
    """Raises InvalidSignature where the key did not sign the text."""
    if jwk["alg"] == "EdDSA":
        Ed25519PublicKey.from_public_bytes(decoded(jwk["x"])).verify(signature, text)
    else:
        x, y, r, s = (int.from_bytes(part, "big") for part in (decoded(jwk["x"]), decoded(jwk["y"]), signature[:32], signature[32:]))
        key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        key.verify(utils.encode_dss_signature(r, s), text, ec.ECDSA(SHA256()))


def verified(issuer, typ, token):
    """The claims; None where the token does not hold."""
    head, body, signature = token.split(".")
    header, claims = json.loads(decoded(head)), json.loads(decoded(body))
    with urllib.request.urlopen(f"{issuer}/.well-known/jwks.json") as answer:
        keys = {key["kid"]: key for key in json.load(answer)["keys"]}
    jwk = keys.get(header["kid"])
    if jwk is None or header["alg"] != jwk["alg"] or header["typ"] != typ:
        return None
    try:
        check(jwk, decoded(signature), f"{head}.{body}".encode())
    except InvalidSignature:
        return None
    return claims if claims["iss"] == issuer and claims["exp"] > time.time() else None


if __name__ == "__main__":
    claims = verified(*sys.argv[1:])
    print(json.dumps({"holds": claims is not None, "claims": claims}))
    sys.exit(claims is None)
