// Reads the head of an HTTP request with a DNS query (RFC 8484 §4.1).

import type { IncomingHttpHeaders } from 'node:http';

/** The only path. Clients are configured with it (RFC 8484 §3). */
const DOH_PATH = '/dns-query';
export const DNS_MESSAGE = 'application/dns-message';
export const MAX_QUERY_OCTETS = 65_535;
/** Limit on the names and values of all header fields. */
export const MAX_HEAD_OCTETS = 16_384;

/** The query of a GET; `body` if the body of a POST is the query; else the status of the error. */
export type DohRequest = Uint8Array | 'body' | 400 | 404 | 405 | 413 | 415;

/** @param requested path and query string, or a whole URI (RFC 9112 §3.2.2) */
export function readDohRequest(
  method: string | undefined,
  requested: string,
  headers: IncomingHttpHeaders,
): DohRequest {
  const target = requested.startsWith('/') ? requested : requested.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  if ((mark < 0 ? target : target.slice(0, mark)) !== DOH_PATH) return 404;
  if (method === 'GET') return mark < 0 ? 400 : readQueryString(target, mark + 1);
  if (method !== 'POST') return 405;
  const encoding = headers['content-encoding'];
  if (!isDnsMessage(headers['content-type']) || (encoding !== undefined && encoding !== 'identity'))
    return 415;
  return Number(headers['content-length'] ?? 0) > MAX_QUERY_OCTETS ? 413 : 'body';
}

function isDnsMessage(type: string | undefined): boolean {
  if (type === DNS_MESSAGE) return true;
  return type?.split(';', 1)[0]?.trim().toLowerCase() === DNS_MESSAGE;
}

/** Returns the value of `dns`, which must occur once, in base64url without padding (RFC 8484 §6). Others are ignored. */
function readQueryString(target: string, from: number): Uint8Array | 400 | 413 {
  let text: string | undefined;
  for (let at = from; at < target.length; ) {
    const next = target.indexOf('&', at);
    const end = next < 0 ? target.length : next;
    if (target.startsWith('dns=', at)) {
      if (text !== undefined) return 400;
      text = target.slice(at + 4, end);
    }
    at = end + 1;
  }
  if (text === undefined || text.length % 4 === 1 || !/^[\w-]+$/.test(text)) return 400;
  const query = Buffer.from(text, 'base64url');
  return query.length > MAX_QUERY_OCTETS ? 413 : query;
}
