// Talking to the server, and what went wrong in words.

const WORDS = {
  0: 'The server cannot be reached. Check the connection.',
  401: 'Your session is over. Sign in again.',
  404: 'It is not there any more.',
  413: 'That is too long.',
  429: 'Too many changes in a short time. Try again in a minute.',
  500: 'Something went wrong on the server. Try again.',
  503: 'Keys and sessions cannot be read at the moment. Try again shortly.',
};

export class Failure extends Error {
  constructor(status, body) {
    super(body?.title ?? 'no answer');
    this.status = status;
    this.why = body?.why;
    const fault = status === 422 && Array.isArray(body?.detail) ? body.detail[0]?.msg : null;
    const told = (status === 403 || status === 404) && typeof body?.detail === 'string' ? body.detail : null;
    this.text = fault ?? told ?? WORDS[status] ?? WORDS[500];
  }

  /** Asking the same once more may help. */
  get passing() {
    return this.status === 0 || this.status >= 500;
  }
}

/** Called when the session turns out to be over. */
export const lost = { session: () => {} };

/** Asks the server, at a path of the page's own or of the market's API; the answer's data, or a Failure. */
export async function ask(method, path, body) {
  let response;
  let told = null;
  try {
    const headers = { accept: 'application/json, application/problem+json', 'x-haat-dashboard': '1' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    response = await fetch(path.startsWith('/') ? path : `/dashboard/api/${path}`, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: 'no-store',
      credentials: 'same-origin', redirect: 'error', signal: AbortSignal.timeout(15000),
    });
    told = await response.json().catch(() => null);
  } catch {
    throw new Failure(0);
  }
  if (response.ok && told?.data !== undefined) return told.data;
  const failure = new Failure(response.ok ? 500 : response.status, told);
  if (failure.status === 401) lost.session(failure);
  throw failure;
}
