// The guard of what edge nodes call, before a body is read: 401, 429, 404. Nothing but the token of an edge counts there.

import type { FastifyRequest } from 'fastify';
import type { Network } from '../../dns/record/network.ts';
import { trustConnection } from '../../process/http/bounded-server.ts';
import { badRequest, notFound, Problem } from '../answers/problem.ts';
import { judgeCredentials } from '../callers/authenticate.ts';
import type { EdgeCallers } from '../callers/edge-callers.ts';
import { type KnownPaths, pathOf } from './known-paths.ts';
import { isPrivateWay } from './private-way.ts';

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
