// @ts-check
// Asks nginx for a URL as a visitor does, so that it is cached anew. Over plain HTTP: an answer that visitors get over TLS is fetched
// by the next of them.

import { request } from 'node:http';

const LONGEST_MS = 15_000;
/** Its name as an agent: who asks so from this machine is no visitor, and is not reported as one. */
export const REFRESHER = 'zonefleet-refresh';

/**
 * @param {string} place where nginx listens, like `80` or `[::]:80`
 * @param {{ host: string, path: string, query: string }} url
 * @returns {Promise<void>} when nginx has answered, or did not in time: then the next visitor asks
 */
export function refreshUrl(place, { host, path, query }) {
  const [, address = '127.0.0.1', port] = /^(?:(.*):)?([0-9]+)$/.exec(place) ?? [];
  const bare = address.replace(/^\[|\]$/g, '');
  const isAny = bare === '0.0.0.0' || bare === '::';
  return new Promise((resolve) => {
    const asked = request({
      host: isAny ? (bare === '::' ? '::1' : '127.0.0.1') : bare,
      port,
      path: query === '' ? path : `${path}?${query}`,
      headers: { host, 'user-agent': REFRESHER },
      agent: false,
      timeout: LONGEST_MS,
    });
    asked.on('response', (answer) => answer.resume());
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => undefined);
    asked.on('close', () => resolve());
    asked.end();
  });
}
