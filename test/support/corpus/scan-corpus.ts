// Made zones of many kinds of owners, each record with what an outsider could know of it; and the
// servers that they are at. The same seed makes the same zones.

import { parseName } from '../../../src/dns/name.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, randomFrom } from '../random/random-zones.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { ZoneDraft } from './scan-corpus-draft.ts';
import { type Kind, RECIPES } from './scan-corpus-kinds.ts';
import { type CorpusRecord, labelRecords } from './scan-corpus-labels.ts';
import { domainName, type Fold } from './scan-corpus-names.ts';

export interface CorpusZone {
  /** With the final dot. */
  readonly domain: string;
  readonly kind: Kind | 'written';
  readonly zone: Zone;
  /** What a scan may find: all but SOA and NS of the apex. */
  readonly records: readonly CorpusRecord[];
  /** Zones below cuts of it, and where they are served. */
  readonly children: readonly { readonly zone: Zone; readonly addresses: readonly string[] }[];
  readonly hoster: Hoster;
  /** In NS: the hoster's names, or names of the zone itself with the hoster's addresses. */
  readonly ns: readonly string[];
  readonly fault: ZoneFault | undefined;
}

/** `one silent`: the first address says nothing. `nxdomain-for-ent`: what is above names does not exist, they say. */
export type ZoneFault = 'one silent' | 'nxdomain-for-ent';

export interface Hoster {
  /** `hoster3.net.` */
  readonly domain: string;
  readonly addresses: readonly string[];
}

/** One of these after the other, so that a few zones have a bit of everything. */
const CYCLE: readonly Kind[] = [
  ...(['small business', 'mail', 'SaaS', 'wildcards', 'university', 'shop', 'delegated'] as const),
  ...(['small business', 'services', 'SaaS', 'mail', 'small business', 'deep', 'shop', 'parked'] as const),
  ...(['small business', 'mail', 'SaaS', 'wildcards', 'university', 'shop', 'small business'] as const),
  ...(['mail', 'SaaS', 'small business'] as const),
];
/** Places in the cycle. */
const FAULTS: ReadonlyMap<number, ZoneFault> = new Map([
  [8, 'one silent'],
  [16, 'nxdomain-for-ent'],
]);
/** What each of a hoster's addresses is called, by one of these. */
export const NAMESERVERS = [
  ['ns1', 'ns2', 'ns3', 'ns4'],
  ['dns1', 'dns2', 'dns3', 'dns4'],
  ['ada', 'bert', 'cleo', 'dora'],
] as const;
const VANITY_PART = 0.12;

export function makeCorpus(order: {
  readonly seed: number;
  readonly zones: number;
  readonly fold: Fold;
  readonly hosters?: number;
}): CorpusZone[] {
  const hosters = Array.from({ length: order.hosters ?? 16 }, (_, i) => hosterOf(i));
  const numbers = new Map<Kind, number>();
  return Array.from({ length: order.zones }, (_, i) => {
    const kind = CYCLE[i % CYCLE.length] as Kind;
    const number = numbers.get(kind) ?? 0;
    numbers.set(kind, number + 1);
    const hoster = hosters[i % hosters.length] as Hoster;
    return makeZone({ seed: order.seed * 100_003 + i, index: i, number, kind, hoster, fold: order.fold });
  });
}

export function hosterOf(index: number): Hoster {
  const count = [4, 2, 3][index % 3] as number;
  return {
    domain: `hoster${index}.net.`,
    addresses: Array.from({ length: count }, (_, i) => `185.${40 + index}.${i + 1}.53`),
  };
}

function makeZone(order: {
  seed: number;
  index: number;
  number: number;
  kind: Kind;
  hoster: Hoster;
  fold: Fold;
}): CorpusZone {
  const { index, kind, hoster } = order;
  const random = randomFrom(order.seed);
  const domain = domainName(random, index, kind === 'university' ? 'edu' : undefined);
  const isVanity = random() < VANITY_PART;
  const names = pick(random, NAMESERVERS);
  const ns = hoster.addresses.map((_, i) => `${names[i]}.${isVanity ? domain : hoster.domain}`);
  const draft = new ZoneDraft(random, domain);
  if (isVanity) {
    for (const [i, address] of hoster.addresses.entries())
      draft.add(`${names[i]} A ${address}`, 'host', 'learnable');
  }
  RECIPES[kind](draft, { fold: order.fold, number: order.number, ns });
  return {
    domain,
    kind,
    zone: built(domain, ns, draft.records),
    records: labelRecords(draft.apex, draft.records),
    children: draft.children.map((child) => ({
      zone: built(child.apex, [], recordsOf(child.text, child.apex)),
      addresses: child.addresses ?? hoster.addresses,
    })),
    hoster,
    ns,
    fault: FAULTS.get(index % CYCLE.length),
  };
}

/** With a SOA and the NS. */
export function built(domain: string, ns: readonly string[], records: readonly ZoneRecord[]): Zone {
  const apex = [
    `@ 3600 SOA ns.hoster0.net. hostmaster.${domain} 2026110100 10000 2400 604800 1800`,
    ...ns.map((target) => `@ 86400 NS ${target}`),
  ];
  const zone = buildZone(parseName(domain), [...recordsOf(apex.join('\n'), domain), ...records]);
  if (zone.kind === 'built') return zone.zone;
  throw new Error(`${domain} cannot be served: ${zone.problems.map(({ message }) => message).join('; ')}`);
}
