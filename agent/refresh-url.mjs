// @ts-check
// Requests a URL from nginx as a visitor does, so that it is cached again. Uses plain HTTP; a response for TLS is cached at the next
// visit.

import { request } from 'node:http';

const LONGEST_MS = 15_000;
/** User agent of these requests, which are not reported as visits. */
export const REFRESHER = 'zonefleet-refresh';

/**
 * @param {string} place listening address of nginx, such as `80` or `[::]:80`
 * @param {{ host: string, path: string, query: string }} url
 * @returns {Promise<void>} resolves when nginx has responded, or after a timeout
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
