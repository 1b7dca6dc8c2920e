// Admits requests of edge nodes before a body is read: 401, 429, 404. Only the token of an edge counts there. A request is private
// if nobody else can read it: TLS ends in this process, or it comes from this machine and has no sign of a proxy.

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { addressOctets, isInNetwork, type Network, networksOf } from '../../dns/record/network.ts';
import { trustConnection } from '../../process/http/bounded-server.ts';
import { badRequest, notFound, Problem } from '../answers/problem.ts';
import { judgeCredentials } from '../callers/authenticate.ts';
import type { EdgeCallers } from '../callers/edge-callers.ts';
import { type KnownPaths, pathOf } from './known-paths.ts';

const LOOPBACK = networksOf('127.0.0.0/8', '::1/128');

/** RFC 7239, RFC 9110 §7.6.3, and what proxies add of their own. */
const ADDED_BY_PROXIES =
  /^(forwarded|via|x-forwarded(-.+)?|x-real-ip|x-client-ip|x-original-.+|x-cluster-client-ip|x-envoy-.+|true-client-ip|cf-.+)$/;

/** What an agent on this machine asks for. Proxies that pass on the name that was asked for show themselves by it. */
const HERE = /^(([a-z0-9-]+\.)*localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?$/i;

/**
 * Returns true only if the way is certainly private: a sign of a proxy can make it public, but no header makes it private. A proxy
 * on this machine that leaves no sign cannot be told from an agent. `proxies`: networks of known proxies.
 */
function isPrivateWay(request: IncomingMessage, proxies: readonly Network[]): boolean {
  const { socket, headers, httpVersion } = request;
  if (socket instanceof TLSSocket) return true;
  const octets = addressOctets((socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, ''));
  if (octets === undefined || !LOOPBACK.some((network) => isInNetwork(network, octets))) return false;
  if (proxies.some((network) => isInNetwork(network, octets))) return false;
  if (Object.keys(headers).some((name) => ADDED_BY_PROXIES.test(name))) return false;
  // nginx asks with HTTP/1.0 and its own name for us unless it is told otherwise; no agent does.
  return httpVersion !== '1.0' && HERE.test(headers.host ?? '');
}

const EDGE_PREFIX = '/edge/v1/';

export function isEdgePath(url: string): boolean {
  const path = pathOf(url).split(/[?#]/, 1)[0] as string;
  try {
    return decodeURI(path).startsWith(EDGE_PREFIX);
  } catch {
    return false;
  }
}

/** Sets `request.edge`, unless the request is refused. */
export async function admitEdge(
  edges: EdgeCallers,
  paths: KnownPaths,
  request: FastifyRequest,
  proxies: readonly Network[],
): Promise<Problem | undefined> {
  const repeated = judgeCredentials(request.raw.rawHeaders);
  if (repeated !== undefined) return repeated;
  const given = request.params as Record<string, string>;
  const { route } = request.routeOptions.config;
  const isRouted = !request.is404 && route?.access.kind === 'edge' && !Object.values(given).includes('');
  const counted =
    isRouted && route.access.kind === 'edge'
      ? { name: route.operationId, perMinute: route.access.perMinute }
      : undefined;
  const found = await edges.find(request.headers, request.ip, counted);
  if (found instanceof Problem) return found;
  trustConnection(request.raw.socket);
  if (!isRouted) return paths.explain(request.method, pathOf(request.originalUrl)).problem;
  const params = route.params?.safeParse(given);
  if (params?.success === false) return notFound(route.finds ?? 'path');
  if (request.headers['idempotency-key'] !== undefined && request.method === 'POST')
    return badRequest('Idempotency-Key is not taken here');
  const caller = { ...found, address: request.ip, isPrivate: isPrivateWay(request.raw, proxies) };
  request.edge = { caller, params: params?.data ?? {} };
  return undefined;
}
