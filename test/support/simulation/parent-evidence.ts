// Evidence of a check: the answers of a simulated parent's addresses about one domain.

import type { Evidence, ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import type { Name } from '../../../src/dns/name.ts';
import type { Random } from '../random/random-zones.ts';

/** Data of a parent's server for the domain. */
export interface Shown {
  readonly kind: 'delegation' | 'nxdomain';
  readonly ns: readonly Name[];
  readonly hasDs: boolean;
}

export const ABSENT: Shown = { kind: 'nxdomain', ns: [], hasDs: false };

const TIMEOUT_MS = 3000;
const OLD_DS: readonly Uint8Array[] = [Uint8Array.of(1, 2, 13, 2, 9)];

export function serverEvidence(
  { name, address }: { readonly name: Name; readonly address: string },
  said: Shown | 'timeout',
  at: number,
): ServerEvidence {
  const shown = said === 'timeout' ? undefined : said;
  return {
    server: name,
    address,
    transport: 'udp',
    askedAt: at,
    rttMs: shown && 20,
    outcome: shown === undefined ? 'timeout' : shown.kind === 'delegation' ? 'referral' : shown.kind,
    rcode: undefined,
    aa: undefined,
    ns: shown?.ns ?? [],
    ttl: undefined,
    ds: shown?.hasDs ? OLD_DS : [],
    error: undefined,
  };
}

/** Queries two addresses first, then all up to six unless those agree (docs/rules.md "Delegation check"). */
export function observeParent(
  random: Random,
  { domain, zone, count }: { readonly domain: Name; readonly zone: Name; readonly count: number },
  at: number,
  ask: (server: number) => ServerEvidence,
  isThorough: boolean,
): Evidence {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  const servers = order.slice(0, 2).map(ask);
  let tookMs = duration(servers);
  if (isThorough || !agree(servers)) {
    const others = order.slice(2, 6).map(ask);
    if (others.length > 0) tookMs += duration(others);
    servers.push(...others);
  }
  return {
    domain,
    parent: zone,
    walk: [],
    servers,
    parentAddresses: count,
    failure: undefined,
    queries: servers.length,
    startedAt: at,
    finishedAt: at + tookMs,
  };
}

function agree(servers: readonly ServerEvidence[]): boolean {
  const [first] = servers;
  return servers.every(
    ({ outcome, ns }) => outcome !== 'timeout' && outcome === first?.outcome && ns.join() === first.ns.join(),
  );
}

/** Each address is queried twice. */
function duration(servers: readonly ServerEvidence[]): number {
  return servers.some(({ outcome }) => outcome === 'timeout') ? 2 * TIMEOUT_MS : 150;
}
