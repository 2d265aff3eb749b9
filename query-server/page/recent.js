// What this browser's visitor searched for of late. It stays in the browser.

import { keep, kept } from './dom.js';

const KEPT = 'searches';
const MOST = 6;
const CHARS_MAX = 80;

/** The searches, the last one first. */
export function recentSearches() {
  try {
    const found = JSON.parse(kept(KEPT) || '[]');
    return Array.isArray(found) ? found.filter((text) => typeof text === 'string' && text !== '').slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function remember(text) {
  const search = text.trim().slice(0, CHARS_MAX);
  if (!search) return;
  const others = recentSearches().filter((one) => one.toLowerCase() !== search.toLowerCase());
  keep(KEPT, JSON.stringify([search, ...others].slice(0, MOST)));
}

export const forgetSearches = () => keep(KEPT, '[]');
