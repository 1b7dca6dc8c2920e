// One request from its first octet to its answer: the domain, the host, challenges of the CA, the rules, the origin.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { act, type Forward } from './act.ts';
import { findHost, hostOf } from './find-host.ts';
import { finishAnswer, type Leaving } from './finish-answer.ts';
import { askTargets, forward, withoutHops } from './forward.ts';
import type { Serving } from './serving.ts';
import { type Answer, plainAnswer, type Seen, type Visit } from './visit.ts';

const ACME_PATH = '/.well-known/acme-challenge/';
const MAX_SEEN = 10_000;
/** The proxy itself, when it fetches anew what was purged: no visitor. */
export const REFRESHER = 'test-proxy-refresh';

export async function answerRequest(serving: Serving, request: IncomingMessage, response: ServerResponse) {
  const { seen, host, scheme, path, query } = begin(serving, request);
  const { socket } = request;
  const before = socket.bytesWritten;
  response.on('close', () => {
    if (request.headers['user-agent'] === REFRESHER) return;
    if (!response.headersSent) {
      // The visitor left, or we have failed.
      const isOurs = response.errored !== null;
      seen.status = isOurs ? 0 : 499;
      seen.reason = isOurs ? 'edge_fault' : 'client_closed';
    }
    serving.requestReporter.ended(seen, { octets: socket.bytesWritten - before, endMs: serving.now() });
  });
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  const found = open(serving, { scheme, host, path, query }, request);
  if ('answer' in found) {
    if (found.reason !== undefined) seen.reason = found.reason;
    return leave(response, seen, found.answer);
  }
  const { visit } = found;
  let wanted: Forward | undefined;
  const send = (answer: Parameters<typeof finishAnswer>[1], from: 'edge' | 'origin') => {
    const leaving = finishAnswer(visit, answer, from, wanted, seen);
    leave(response, seen, leaving);
  };
  const acted = act(serving, visit, seen);
  if ('answer' in acted) return send(acted.answer, 'edge');
  wanted = acted.forward;
  const reply = await forward(serving, visit, wanted, hasBody ? request : undefined, seen);
  if (reply.kind === 'none') {
    return send(plainAnswer(reply.status, reply.status === 504 ? 'Gateway Timeout' : 'Bad Gateway'), 'edge');
  }
  if (reply.kind === 'whole') return send(reply, 'origin');
  const leaving = finishAnswer(visit, { ...reply, body: undefined }, 'origin', wanted, seen);
  seen.status = leaving.status;
  response.writeHead(leaving.status, leaving.headers);
  response.write(reply.head);
  reply.rest.on('error', () => response.destroy()).pipe(response);
}

/** Rules act on an upgrade as on any request; then the two ends are joined, if the domain may. */
export async function answerUpgrade(
  serving: Serving,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
) {
  socket.on('error', () => socket.destroy());
  const before = (socket as Socket).bytesWritten;
  const { seen, host, scheme, path, query } = begin(serving, request);
  socket.on('close', () => {
    if (seen.status === 0) Object.assign(seen, { status: 499, reason: 'client_closed' });
    serving.requestReporter.ended(seen, {
      octets: (socket as Socket).bytesWritten - before,
      endMs: serving.now(),
    });
  });
  const refuse = ({ status, headers, body }: Pick<Leaving, 'status' | 'headers' | 'body'>) => {
    seen.status = status;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${[value].flat().join(', ')}\r\n`);
    socket.end(`HTTP/1.1 ${status} -\r\nconnection: close\r\n${lines.join('')}\r\n${body ?? ''}`);
  };
  const found = open(serving, { scheme, host, path, query }, request);
  if ('answer' in found) {
    if (found.reason !== undefined) seen.reason = found.reason;
    return refuse(found.answer);
  }
  const { visit } = found;
  const acted = visit.config.settings.websockets
    ? act(serving, visit, seen)
    : { answer: plainAnswer(403, 'No websockets here') };
  if ('answer' in acted) return refuse(finishAnswer(visit, acted.answer, 'edge', undefined, seen));
  const upgrade = { connection: 'upgrade', upgrade: request.headers.upgrade ?? 'websocket' };
  const reply = await askTargets(serving, visit, acted.forward, undefined, seen, upgrade);
  if (reply.kind !== 'upgrade') {
    if (reply.kind === 'answer') reply.response.destroy();
    const status = reply.kind === 'none' ? reply.status : 502;
    return refuse(finishAnswer(visit, plainAnswer(status, 'No upgrade'), 'edge', undefined, seen));
  }
  seen.status = 101;
  seen.origin = reply.address;
  const headers = Object.entries({ ...withoutHops(reply.response.headers), ...upgrade });
  const lines = headers.map(([name, value]) => `${name}: ${[value].flat().join(', ')}\r\n`);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
  if (reply.head.length > 0) socket.write(reply.head);
  if (head.length > 0) reply.socket.write(head);
  reply.socket.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  socket.on('close', () => reply.socket.destroy());
  socket.pipe(reply.socket).pipe(socket);
}

function begin({ seen: all, now }: Serving, request: IncomingMessage) {
  const scheme = 'encrypted' in request.socket ? ('https' as const) : ('http' as const);
  const uri = request.url ?? '/';
  const at = uri.indexOf('?');
  const host = hostOf(request.headers.host);
  const client = request.socket.remoteAddress ?? '';
  const seen: Seen = {
    atMs: now(),
    host: host ?? '',
    method: request.method ?? 'GET',
    uri,
    client,
    status: 0,
  };
  all.push(seen);
  if (all.length > MAX_SEEN) all.shift();
  const [path, query] = at < 0 ? [uri, ''] : [uri.slice(0, at), uri.slice(at + 1)];
  return { seen, host, scheme, path, query };
}

/** What comes before the rules: is the host served here at all, and is it the CA that asks? */
function open(
  { configs }: Serving,
  {
    scheme,
    host,
    path,
    query,
  }: { scheme: 'http' | 'https'; host: string | undefined; path: string; query: string },
  request: IncomingMessage,
): { visit: Visit } | { answer: Answer; reason?: 'suspended' } {
  if (host === undefined || !path.startsWith('/')) return { answer: plainAnswer(400, 'Bad Request') };
  const config = configs.find(host);
  if (config?.suspended) return { answer: plainAnswer(403, 'Suspended'), reason: 'suspended' };
  if (scheme === 'http' && path.startsWith(ACME_PATH)) {
    const token = path.slice(ACME_PATH.length);
    const challenge = config?.http01.find((each) => each.host === host && each.token === token);
    if (challenge !== undefined) return { answer: plainChallenge(challenge.key_authorization) };
  }
  const place = config === undefined ? undefined : findHost(config, host);
  if (config === undefined || place === undefined) {
    return { answer: plainAnswer(421, 'Misdirected Request') };
  }
  const servername = (request.socket as TLSSocket).servername || '';
  // The certificate that the client has seen is of another domain (RFC 9110 §7.4).
  if (scheme === 'https' && configs.find(servername.toLowerCase())?.domain !== config.domain) {
    return { answer: plainAnswer(421, 'Misdirected Request') };
  }
  const client = request.socket.remoteAddress ?? '';
  const visit: Visit = {
    config,
    place,
    scheme,
    host,
    method: request.method ?? 'GET',
    path,
    plainPath: plainPathOf(path),
    query,
    headers: request.headers,
    client,
  };
  return { visit };
}

function plainChallenge(keyAuthorization: string): Answer {
  return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: keyAuthorization };
}

function plainPathOf(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // wrongly encoded: the origin has to say what it is
  }
  const parts: string[] = [];
  for (const part of decoded
    .replaceAll(/\/{2,}/g, '/')
    .split('/')
    .slice(1)) {
    if (part === '..') parts.pop();
    if (part !== '.' && part !== '..') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function leave(response: ServerResponse, seen: Seen, { status, headers, body }: Leaving): void {
  seen.status = status;
  response.writeHead(status, headers);
  response.end(body);
}
