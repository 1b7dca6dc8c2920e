// `zonefleet edge list`: lists the edges, their last reports, and the rules that they do not support.

import { SILENT_MS } from '../../edge/sets/plan-edge-sets.ts';
import { listEdges, type StoredEdge } from '../../store/edges/edges.ts';
import type { Cli } from '../terminal/cli.ts';
import { printTable } from '../terminal/print-table.ts';

export async function showEdges(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const edges = await listEdges(db);
    if (output.json) {
      await output.print(JSON.stringify({ edges: edges.map(jsonOf) }));
      return 0;
    }
    const heads = ['NAME', 'REGION', 'STATE', 'SEEN', 'LOAD', 'SOFTWARE', 'ADDRESSES', 'TOKEN'];
    const rows = edges.map((edge) => [
      edge.name,
      edge.region,
      stateOf(edge),
      seenOf(edge),
      edge.load ?? '-',
      edge.software ?? '-',
      [...edge.v4, ...edge.v6].join(' '),
      `${edge.tokenPrefix}…`,
    ]);
    await output.print(printTable(heads, rows));
    for (const { name, unsupported } of edges) {
      for (const { rule_id: id, why } of unsupported) await output.complain(`${name}: rule ${id}: ${why}`);
    }
    return 0;
  });
}

type EdgeState = 'revoked' | 'drained' | 'new' | 'live' | 'silent';

function stateOf({ revokedAt, drainedAt, seenAt, now }: StoredEdge): EdgeState {
  if (revokedAt !== null) return 'revoked';
  if (drainedAt !== null) return 'drained';
  if (seenAt === null) return 'new';
  return now.getTime() - seenAt.getTime() < SILENT_MS ? 'live' : 'silent';
}

function seenOf(edge: StoredEdge): string {
  const seenAt = lastSeen(edge);
  if (seenAt === undefined) return 'never';
  return `${Math.max(0, Math.round((edge.now.getTime() - seenAt.getTime()) / 1000))} s ago`;
}

/** Returns the time of the last request of any kind. */
function lastSeen({ seenAt, calledAt }: StoredEdge): Date | undefined {
  const times = [seenAt, calledAt].flatMap((at) => (at === null ? [] : [at.getTime()]));
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}

function jsonOf(edge: StoredEdge): object {
  return {
    name: edge.name,
    region: edge.region,
    state: stateOf(edge),
    addresses: [...edge.v4, ...edge.v6],
    token_prefix: edge.tokenPrefix,
    token_made_at: edge.tokenMadeAt.toISOString(),
    created_at: edge.createdAt.toISOString(),
    drained_at: edge.drainedAt?.toISOString() ?? null,
    revoked_at: edge.revokedAt?.toISOString() ?? null,
    seen_at: lastSeen(edge)?.toISOString() ?? null,
    health_at: edge.seenAt?.toISOString() ?? null,
    seen_address: edge.seenAddress,
    load: edge.load,
    software: edge.software,
    unsupported: edge.unsupported,
  };
}
