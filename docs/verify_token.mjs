// Verifies a token of haat, a quote or the attribution of a checkout, with nothing but Node's own crypto.
// node verify_token.mjs ISSUER TYP TOKEN    (ISSUER: the market's public address, such as https://market.example)
import { createPublicKey, verify } from 'node:crypto';

const [issuer, typ, token] = process.argv.slice(2);
const [head, body, signature] = token.split('.');
const read = (part) => JSON.parse(Buffer.from(part, 'base64url'));
const { keys } = await (await fetch(`${issuer}/.well-known/jwks.json`)).json();
const header = read(head);
const jwk = keys.find((key) => key.kid === header.kid);
const claims = read(body);
const hashes = { EdDSA: null, ES256: 'sha256' };
const key = () => ({ key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' });
const holds = jwk !== undefined && header.alg === jwk.alg && jwk.alg in hashes && header.typ === typ
  && verify(hashes[jwk.alg], Buffer.from(`${head}.${body}`), key(), Buffer.from(signature, 'base64url'))
  && claims.iss === issuer && claims.exp * 1000 > Date.now();
console.log(JSON.stringify({ holds, claims: holds ? claims : null }));
process.exitCode = holds ? 0 : 1;
