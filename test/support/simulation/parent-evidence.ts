// What the addresses of a simulated parent say of one domain, as the evidence of a check.

import type { Evidence, ServerEvidence, ServerOutcome } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import type { Random } from '../random/random-zones.ts';

/** What a server of the parent has for the domain. */
export interface Shown {
  readonly kind: 'delegation' | 'nodata' | 'nxdomain' | 'alias';
  readonly ns: readonly Name[];
  readonly hasDs: boolean;
}

export const ABSENT: Shown = { kind: 'nxdomain', ns: [], hasDs: false };

const TIMEOUT_MS = 3000;
const NO_NAMES: readonly Name[] = [];
const NO_DS: readonly Uint8Array[] = [];
const OLD_DS: readonly Uint8Array[] = [Uint8Array.of(1, 2, 13, 2, 9)];
const OLD_NS = [parseName('ns1.old.'), parseName('ns2.old.')];
const CONCLUSIVE: readonly ServerOutcome[] = ['referral', 'nodata', 'nxdomain', 'alias', 'answer'];

/** `said`: what the server shows, or why it says nothing. `answer`: it also holds the domain's zone of before. */
export function serverEvidence(
  { name, address }: { readonly name: Name; readonly address: string },
  said: Shown | ServerOutcome,
  at: number,
): ServerEvidence {
  const shown = typeof said === 'string' ? undefined : said;
  const outcome = typeof said === 'string' ? said : said.kind === 'delegation' ? 'referral' : said.kind;
  return {
    server: name,
    address,
    transport: address === '' ? 'database' : 'udp',
    askedAt: at,
    rttMs: outcome === 'timeout' ? undefined : 20,
    outcome,
    rcode: undefined,
    aa: undefined,
    ns: shown?.ns ?? (outcome === 'answer' ? OLD_NS : NO_NAMES),
    ttl: undefined,
    ds: shown?.hasDs ? OLD_DS : NO_DS,
    error: undefined,
  };
}

/** Asks two addresses first, then all up to six unless those agree (docs/rules.md "Delegation check"). */
export function observeParent(
  random: Random,
  { domain, zone, count }: { readonly domain: Name; readonly zone: Name; readonly count: number },
  at: number,
  ask: (server: number) => ServerEvidence,
  isThorough = false,
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
    ({ outcome, ns }) =>
      CONCLUSIVE.includes(outcome) && outcome === first?.outcome && ns.join() === first.ns.join(),
  );
}

/** Each address is tried twice. */
function duration(servers: readonly ServerEvidence[]): number {
  return servers.some(({ outcome }) => outcome === 'timeout') ? 2 * TIMEOUT_MS : 150;
}
