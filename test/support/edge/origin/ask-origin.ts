// One request to one origin: its name is resolved once, the address judged, and exactly that address connected to. What the
// origin answers is passed on as it is: redirects are the visitor's, never followed here.

import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type BlockList, isIP, isIPv6 } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Target } from '../proxy/visit.ts';
import { mayConnect } from './judge-address.ts';

export interface OriginWays {
  /** The addresses of a name. */
  resolve(name: string): Promise<readonly string[]>;
  readonly allowed: BlockList;
}

export interface OriginRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly visited: 'http' | 'https';
  /** The host of the request. */
  readonly host: string;
  readonly body?: Readable | undefined;
}

export type OriginReply =
  | { readonly kind: 'answer'; readonly address: string; readonly response: IncomingMessage }
  | {
      readonly kind: 'upgrade';
      readonly address: string;
      readonly response: IncomingMessage;
      readonly socket: Duplex;
      readonly head: Buffer;
    }
  /** `reached`: the origin may have begun to act on the request. */
  | { readonly kind: 'none'; readonly status: 502 | 504; readonly reason: string; readonly reached: boolean };

const TLS_PORT = 443;

/** What `auto` has found, by address and port. */
const probed = new Map<string, 'http' | 'https'>();

export async function askOrigin(
  ways: OriginWays,
  target: Target,
  asked: OriginRequest,
): Promise<OriginReply> {
  const found = isIP(target.destination)
    ? [target.destination]
    : await ways.resolve(target.destination).catch(() => []);
  if (found.length === 0) return none(502, 'origin_unresolved', false);
  const address = found.find((each) => mayConnect(each, ways.allowed));
  if (address === undefined) return none(502, 'origin_refused', false);
  const wanted = target.scheme === 'default' ? asked.visited : target.scheme;
  if (wanted !== 'auto') return send(address, wanted, target, asked);
  const key = `${address} ${target.port}`;
  const known = probed.get(key);
  if (known !== undefined) return send(address, known, target, asked);
  const scheme = (await speaksTls(address, target)) ? 'https' : 'http';
  probed.set(key, scheme);
  return send(address, scheme, target, asked);
}

/** A record's port is 443 unless somebody said another: plain HTTP goes to 80 then. */
export function portOf(scheme: 'http' | 'https', port: number): number {
  return scheme === 'http' && port === TLS_PORT ? 80 : port;
}

function send(
  address: string,
  scheme: 'http' | 'https',
  target: Target,
  asked: OriginRequest,
): Promise<OriginReply> {
  const host = target.host_header ?? asked.host;
  return new Promise((resolve) => {
    const outgoing = (scheme === 'https' ? requestHttps : requestHttp)({
      agent: false,
      host: address,
      family: isIPv6(address) ? 6 : 4,
      port: portOf(scheme, target.port),
      method: asked.method,
      path: asked.path,
      headers: { ...asked.headers, host },
      setHost: false,
      ...(scheme === 'https' && {
        ...(isIP(host) === 0 && { servername: host.replace(/:\d+$/, '') }),
        rejectUnauthorized: false, // origins have certificates of their own making
      }),
    });
    let isConnected = false;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      outgoing.destroy(new Error('timeout'));
    }, target.timeoutMs);
    outgoing.on('socket', (socket) => {
      socket.once(scheme === 'https' ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    outgoing.on('response', (response) => {
      clearTimeout(timer);
      response.setTimeout(target.timeoutMs, () => response.destroy());
      resolve({ kind: 'answer', address, response });
    });
    outgoing.on('upgrade', (response, socket, head) => {
      clearTimeout(timer);
      resolve({ kind: 'upgrade', address, response, socket, head });
    });
    outgoing.on('error', () => {
      clearTimeout(timer);
      if (isLate) return resolve(none(504, 'origin_timeout', isConnected));
      resolve(none(502, isConnected ? 'origin_broke_off' : 'origin_unreachable', isConnected));
    });
    if (asked.body === undefined) outgoing.end();
    else asked.body.on('error', () => outgoing.destroy()).pipe(outgoing);
  });
}

function speaksTls(address: string, target: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = requestHttps({
      agent: false,
      host: address,
      port: target.port,
      method: 'HEAD',
      path: '/',
      rejectUnauthorized: false,
      timeout: target.timeoutMs,
    });
    probe.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        resolve(true);
        probe.destroy();
      });
    });
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
    probe.on('close', () => resolve(false));
    probe.end();
  });
}

function none(status: 502 | 504, reason: string, reached: boolean): OriginReply {
  return { kind: 'none', status, reason, reached };
}
