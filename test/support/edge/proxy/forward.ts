// Brings a request to the first of its targets that answers, through the cache when a rule says so.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { askOrigin, type OriginReply, type OriginWays } from '../origin/ask-origin.ts';
import type { Forward } from './act.ts';
import { cacheKeyOf, type EdgeCache, keepMs } from './cache.ts';
import type { Seen, Visit } from './visit.ts';

const MIB = 1024 ** 2;
/** Of one connection only (RFC 9110 §7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
export interface Forwarding {
  readonly ways: OriginWays;
  readonly cache: EdgeCache;
  now(): number;
}

export type Reply =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  /** Too large to be kept in memory: its beginning, and the rest as it comes. */
  | {
      readonly kind: 'stream';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly head: Buffer;
      readonly rest: IncomingMessage;
    }
  | Extract<OriginReply, { kind: 'none' }>;

export async function forward(
  forwarding: Forwarding,
  visit: Visit,
  wanted: Forward,
  body: Readable | undefined,
  seen: Seen,
): Promise<Reply> {
  const { settings } = visit.config;
  const now = forwarding.now();
  const isDeveloping = Date.parse(settings.developer_mode_until ?? '') > now;
  const rule = wanted.cache;
  const key = rule === undefined || rule.bypass || isDeveloping ? undefined : cacheKeyOf(rule, visit);
  if (rule !== undefined) seen.cache = key === undefined ? 'bypass' : 'miss';
  const stored = key === undefined ? undefined : forwarding.cache.find(key, now);
  if (stored !== undefined) {
    seen.cache = 'hit';
    const age = String(Math.floor((now - stored.storedAt) / 1_000));
    return { kind: 'whole', status: stored.status, headers: { ...stored.headers, age }, body: stored.body };
  }
  const reply = await askTargets(forwarding, visit, wanted, body, seen);
  if (reply.kind !== 'answer') return reply.kind === 'none' ? reply : noUpgrade(reply);
  const { response, address } = reply;
  seen.origin = address;
  const status = response.statusCode as number;
  const headers = withoutHops(response.headers);
  const head = await readHead(response, settings.cache_cap_mb * MIB);
  if (head === undefined) {
    delete seen.origin;
    seen.reason = 'origin_broke_off';
    return { kind: 'none', status: 502, reason: 'origin_broke_off', reached: true };
  }
  if (!head.isWhole) return { kind: 'stream', status, headers, head: head.octets, rest: response };
  if (rule !== undefined && key !== undefined && visit.method === 'GET') {
    const ms = keepMs(rule, visit, status, headers);
    const entry = { status, headers, body: head.octets, storedAt: now, expiresAt: now + ms };
    if (ms > 0) forwarding.cache.store(key, entry, settings.cache_l2_max_gb);
  }
  return { kind: 'whole', status, headers, body: head.octets };
}

/** Also for upgrades: the first target that answers. */
export async function askTargets(
  forwarding: Forwarding,
  visit: Visit,
  { path, targets }: Forward,
  body: Readable | undefined,
  seen: Seen,
  upgrade?: { readonly connection: string; readonly upgrade: string },
): Promise<OriginReply> {
  const headers: IncomingHttpHeaders = {
    ...withoutHops(visit.headers),
    ...(body !== undefined &&
      visit.headers['content-length'] === undefined && { 'transfer-encoding': 'chunked' }),
    ...upgrade,
    'x-forwarded-for': visit.client,
    'x-forwarded-proto': visit.scheme,
  };
  let reply: OriginReply = { kind: 'none', status: 502, reason: 'no_origin', reached: false };
  if (targets.length === 0) seen.reason = reply.reason;
  for (const target of targets) {
    const asked = { method: visit.method, path, headers, visited: visit.scheme, host: visit.host, body };
    reply = await askOrigin(forwarding.ways, target, asked);
    if (reply.kind !== 'none') {
      delete seen.reason; // of those before it
      return reply;
    }
    seen.reason = reply.reason;
    if (reply.reached || body !== undefined) return reply;
  }
  return reply;
}

function noUpgrade({ socket }: Extract<OriginReply, { kind: 'upgrade' }>): Reply {
  socket.destroy();
  return { kind: 'none', status: 502, reason: 'origin_broke_off', reached: true };
}

export function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name) && !named.includes(name)),
  );
}

/** Up to so many octets; undefined when the origin breaks off before. */
async function readHead(
  response: IncomingMessage,
  octets: number,
): Promise<{ octets: Buffer; isWhole: boolean } | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > octets) return { octets: Buffer.concat(chunks), isWhole: false };
    }
    return response.complete ? { octets: Buffer.concat(chunks), isWhole: true } : undefined;
  } catch {
    return undefined;
  }
}
