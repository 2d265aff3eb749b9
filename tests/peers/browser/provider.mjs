// A real OpenID provider for the dashboard's tests: npm's oidc-provider, on a port of this machine, with one client.
// Usage: node provider.mjs NODE_MODULES REDIRECT_URI CLIENT_SECRET. It says its address on one line, and ends with its input.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [modules, redirectUri, secret] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: 'haat', client_secret: secret, redirect_uris: [redirectUri], response_types: ['code'], grant_types: ['authorization_code'] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  cookies: { keys: ['for a test alone'] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, email: `${sub}@shop.example`, email_verified: true }) }),
  // Whoever signs in has agreed.
  async loadExistingGrant(context) {
    const { client, session } = context.oidc;
    const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid email');
    await grant.save();
    return grant;
  },
});

/** A form to sign in with, which a script fills in and sends as a person would. */
const form = (uid) => `<!doctype html><title>Sign in</title><form method="post" action="/interaction/${uid}/login">
<input name="login"><button>Sign in</button></form>
<script>document.querySelector('input').value = 'asha'; document.querySelector('button').click();</script>`;

server.on('request', async (request, response) => {
  const [, uid, login] = /^\/interaction\/([\w-]+)(\/login)?$/.exec(request.url) ?? [];
  if (!uid) return provider.callback()(request, response);
  if (!login) return response.setHeader('content-type', 'text/html').end(form(uid));
  let body = '';
  for await (const part of request) body += part;
  const accountId = new URLSearchParams(body).get('login');
  return provider.interactionFinished(request, response, { login: { accountId } });
});

console.log(JSON.stringify({ issuer }));
process.stdin.resume().on('end', () => process.exit(0));
