// What every answer goes through before it leaves: error pages, Markdown, the headers that the domain's settings ask for.

import type { IncomingHttpHeaders } from 'node:http';
import { errorPageFor } from '../rules/error-page.ts';
import type { Forward } from './act.ts';
import { markdownOf, wantsMarkdown } from './markdown.ts';
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
  const page = answer.status >= 400 ? errorPageFor(visit, answer.status) : undefined;
  if (page !== undefined) seen.rule ??= page.rule;
  const chosen = page ?? answer;
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(chosen.headers)) {
    if (value === undefined || (settings.sec_strip_headers && from === 'origin' && TELLTALE.test(name)))
      continue;
    headers[name] = value;
  }
  if (settings.sec_no_sniff) headers['x-content-type-options'] = 'nosniff';
  if (settings.sec_referrer_policy) headers['referrer-policy'] = 'strict-origin-when-cross-origin';
  const browserSeconds = forward?.cache?.browser_ttl_seconds;
  if (browserSeconds !== undefined && page === undefined && chosen.status === 200) {
    headers['cache-control'] = `max-age=${browserSeconds}`;
  }
  if (seen.cache !== undefined) headers['x-cache'] = seen.cache.toUpperCase();
  let { body } = chosen;
  if (settings.markdown_for_agents && isHtml(headers) && chosen.status === 200) {
    headers.vary = [headers.vary ?? [], 'Accept'].flat().join(', ');
    if (
      body !== undefined &&
      headers['content-encoding'] === undefined &&
      wantsMarkdown(visit.headers.accept)
    ) {
      body = markdownOf(body.toString());
      headers['content-type'] = 'text/markdown; charset=utf-8';
      delete headers.etag;
    }
  }
  if (body !== undefined && visit.method !== 'HEAD') {
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  return { status: chosen.status, headers, body };
}

function isHtml(headers: Record<string, string | string[]>): boolean {
  return /^text\/html\b/i.test(String(headers['content-type'] ?? ''));
}
