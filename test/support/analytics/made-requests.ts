// Generates random request lines as in the store, and counts them one by one.

import type { Analytics } from '../../../src/analytics/open-analytics.ts';
import { pick as pickFrom, randomFrom } from '../random/random-zones.ts';

export interface MadeRequest {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly domain_id: number;
  readonly edge_id: number;
  readonly host: string;
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly octets: number;
  readonly ms: number;
  readonly client: string;
  readonly visitor: number;
  readonly cache: string;
  readonly rule: number;
  readonly reason: string;
  readonly websocket: boolean;
}

const PATHS = [
  '/',
  '/cart',
  '/cart/pay',
  '/Cart',
  '/app.js',
  '/index.html',
  '/a.b/c',
  '/%27%20or',
  "/x'y",
  '/x%y_z',
  '/blog/post.php',
];
const QUERIES = ['', '', '', '?page=1', '?page=2', '?f=a.css'];
const FAILED = [
  ['origin_timeout', 'origin', 504],
  ['origin_unresolved', 'config', 502],
  ['origin_unreachable', 'network', 502],
] as const;

interface MadeOptions {
  readonly domainId: number;
  readonly domain: string;
  readonly count: number;
  readonly from: number;
  readonly until: number;
  readonly seed: number;
}

export function makeRequests({ domainId, domain, count, from, until, seed }: MadeOptions): MadeRequest[] {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]) => pickFrom(random, items);
  const hosts = ['', 'www.', 'a.www.', 'ww.', 'api.', 'www2.'].map((label) => label + domain);
  return Array.from({ length: count }, () => {
    const failed = random() < 0.06 ? pick(FAILED) : undefined;
    const network = Math.floor(random() * 40);
    return {
      at: Math.floor(from + random() * (until - from)),
      domain_id: domainId,
      edge_id: 1 + Math.floor(random() * 3),
      host: pick(hosts),
      method: pick(['GET', 'GET', 'GET', 'POST', 'HEAD']),
      uri: pick(PATHS) + pick(QUERIES),
      status: failed?.[2] ?? pick([200, 200, 200, 204, 301, 404, 500, 0]),
      octets: Math.floor(random() ** 4 * 5_000_000),
      ms: Math.floor(random() ** 3 * 4000),
      client: `198.51.${network}.0/24`,
      visitor: network * 1000 + Math.floor(random() * 20),
      cache: pick(['hit', 'miss', 'bypass']),
      rule: pick([0, 0, 7]),
      reason: failed?.[0] ?? '',
      websocket: random() < 0.05,
    };
  });
}

/** Inserts in parts: the rows of one insert must lie within 100 days. */
export async function storeRequests(
  store: Analytics,
  made: readonly MadeRequest[],
  token: string,
): Promise<void> {
  const rows = made.map((request) => ({
    ...request,
    at: new Date(request.at).toISOString().replace('T', ' ').replace('Z', ''),
  }));
  for (let at = 0; at < rows.length; at += 20_000)
    await store.insert('requests', rows.slice(at, at + 20_000), `${token}-${at}`);
}

/** Sorts the most frequent first, and equal ones by their text. */
export function ranked(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const text = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return [...counts].sort(([a, m], [b, n]) => n - m || text(a, b));
}
