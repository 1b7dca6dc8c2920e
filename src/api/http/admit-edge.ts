// Admits requests of edge nodes before a body is read: 401, 429, 404. Only edge tokens are accepted here. A request
// is private if no third party can read it: TLS ends in this process, or it comes from this machine without any sign
// of a proxy.

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

/** Headers that proxies add: RFC 7239, RFC 9110 §7.6.3 and vendor headers. */
const ADDED_BY_PROXIES =
  /^(forwarded|via|x-forwarded(-.+)?|x-real-ip|x-client-ip|x-original-.+|x-cluster-client-ip|x-envoy-.+|true-client-ip|cf-.+)$/;

/** Host headers of agents on this machine. Proxies that forward the original host name do not match. */
const HERE = /^(([a-z0-9-]+\.)*localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?$/i;

/**
 * Returns true only if the connection is certainly private. A sign of a proxy makes it public, but no header can make
 * it private. A proxy on this machine that leaves no sign cannot be distinguished from an agent. `proxies` are the
 * networks of known proxies.
 */
function isPrivateConnection(request: IncomingMessage, proxies: readonly Network[]): boolean {
  const { socket, headers, httpVersion } = request;
  if (socket instanceof TLSSocket) return true;
  const octets = addressOctets((socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, ''));
  if (octets === undefined || !LOOPBACK.some((network) => isInNetwork(network, octets))) return false;
  if (proxies.some((network) => isInNetwork(network, octets))) return false;
  if (Object.keys(headers).some((name) => ADDED_BY_PROXIES.test(name))) return false;
  // By default, nginx uses HTTP/1.0 and sets Host to the upstream name. Agents do neither.
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

/** Sets `request.edge` unless the request is refused. */
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
    return badRequest('this call does not accept an Idempotency-Key');
  const caller = { ...found, address: request.ip, isPrivate: isPrivateConnection(request.raw, proxies) };
  request.edge = { caller, params: params?.data ?? {} };
  return undefined;
}
