// What every answer goes through before it leaves: the headers that the domain's settings ask for.

import type { IncomingHttpHeaders } from 'node:http';
import type { Forward } from './act.ts';
import type { Answer, Seen, Visit } from './visit.ts';

/** They tell an attacker what an origin runs. */
const TELLTALE =
  /^(server|via|x-powered-by|x-aspnet-version|x-aspnetmvc-version|x-generator|x-runtime|x-version|x-drupal-.*|x-backend-server)$/;

export interface Leaving {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  /** Undefined: the body is streamed. */
  readonly body: Buffer | string | undefined;
}

export function finishAnswer(
  visit: Visit,
  answer: {
    status: number;
    headers: IncomingHttpHeaders | Answer['headers'];
    body: Buffer | string | undefined;
  },
  from: 'edge' | 'origin',
  forward: Forward | undefined,
  seen: Seen,
): Leaving {
  const { settings } = visit.config;
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value === undefined || (settings.sec_strip_headers && from === 'origin' && TELLTALE.test(name)))
      continue;
    headers[name] = value;
  }
  if (settings.sec_no_sniff) headers['x-content-type-options'] = 'nosniff';
  if (settings.sec_referrer_policy) headers['referrer-policy'] = 'strict-origin-when-cross-origin';
  const browserSeconds = forward?.cache?.browser_ttl_seconds;
  if (browserSeconds !== undefined && answer.status === 200) {
    headers['cache-control'] = `max-age=${browserSeconds}`;
  }
  if (seen.cache !== undefined) headers['x-cache'] = seen.cache.toUpperCase();
  const { body } = answer;
  if (body !== undefined && visit.method !== 'HEAD') {
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  return { status: answer.status, headers, body };
}
