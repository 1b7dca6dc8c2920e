// One link on the way to a challenge's values: the zone that holds the name, and what every address of its servers says.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { TxtLink } from '../../checks/txt/txt-evidence.ts';
import type { Name } from '../../dns/name.ts';
import type { Told } from '../replies/read-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { askEveryServer, type Word } from '../walk/ask-every-server.ts';
import { isTold } from '../walk/ask-server.ts';
import { type ConfirmedZone, confirmZone } from '../walk/confirm-zone.ts';
import { Journey, keepReferral } from '../walk/walk.ts';
import { delegatedZones, findTxtZone } from './find-txt-zone.ts';

export interface FoundLink {
  readonly kind: 'found';
  readonly link: TxtLink;
  readonly zone: KnownZone;
  /** The zone that delegates this one. */
  readonly above: KnownZone | undefined;
  /** The zone and those above it, without the root and the zones that the root delegates. */
  readonly path: readonly KnownZone[];
  /** The addresses that answered for the zone. */
  readonly told: readonly ZoneAddress[];
  /** What most addresses say. */
  readonly most: Told | undefined;
}

/** What the links of one observation share: addresses that do not answer, and zones that were confirmed. */
export interface Way {
  readonly silent: Set<string>;
  readonly confirmed: Set<KnownZone>;
}

/** Throws Stopped. */
export async function observeTxtLink(
  state: ResolverState,
  host: Name,
  way: Way,
  work: Work,
): Promise<FoundLink | { readonly kind: 'failed'; readonly failure: WalkFailure }> {
  const journey = new Journey(state, state.root);
  const confirmed: ConfirmedZone[] = [];
  for (;;) {
    const arrived = await findTxtZone(state, host, journey, work);
    if (arrived.kind === 'failed') return arrived;
    const { zone } = arrived;
    const [{ words, missing }, others] = await Promise.all([
      askEveryServer(state, work, zone, host, way.silent),
      confirmZones(state, journey, way, work),
    ]);
    confirmed.push(...others);
    const most = findMost(words);
    if (most?.kind === 'referral') {
      journey.learn(most.cut, keepReferral(state, most, work), zone.zone);
      continue;
    }
    // Zones that the walk did not see; at the host itself it is for their servers to answer.
    const isBetween = most !== undefined && 'soa' in most && most.soa !== zone.zone && most.soa !== host;
    const unseen = [isBetween ? most.soa : undefined, ...others.map(({ between }) => between)];
    if (unseen.filter((name) => name !== undefined && journey.missed(name)).length > 0) continue;
    return {
      kind: 'found',
      link: {
        host,
        zone: zone.zone,
        nameservers: zone.walked.servers,
        delegations: confirmed
          .filter((each) => journey.path.includes(each.zone))
          .map(({ delegation }) => delegation),
        servers: [...words.map(({ evidence }) => evidence), ...missing],
        again: [],
        primaries: [],
      },
      zone,
      above: journey.path.at(-2),
      path: journey.path.slice(Math.min(2, journey.path.length - 1)),
      told: words.filter(({ reading }) => isTold(reading)).map(({ to }) => to),
      most,
    };
  }
}

async function confirmZones(
  state: ResolverState,
  { path }: Journey,
  { confirmed, silent }: Way,
  work: Work,
): Promise<ConfirmedZone[]> {
  const zones = delegatedZones(path).filter((zone) => !confirmed.has(zone));
  for (const zone of zones) confirmed.add(zone);
  return Promise.all(
    zones.map((zone) => {
      const i = path.indexOf(zone) - 1;
      return confirmZone(state, work, { zone, above: path[i] as KnownZone, isPublic: i <= 1 }, silent);
    }),
  );
}

/** Gives what is said most often; of equals, the first. */
function findMost(words: readonly Word[]): Told | undefined {
  const counts = new Map<string, { readonly told: Told; count: number }>();
  for (const { reading } of words) {
    if (!isTold(reading)) continue;
    const key = keyOf(reading);
    const counted = counts.get(key);
    if (counted === undefined) counts.set(key, { told: reading, count: 1 });
    else counted.count++;
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)[0]?.told;
}

function keyOf(told: Told): string {
  switch (told.kind) {
    case 'alias':
      return `alias ${told.target}`;
    case 'referral':
      return `referral ${told.cut} ${told.ns.join('')}`;
    case 'nodata':
    case 'nxdomain':
      return `negative ${told.soa}`;
    case 'answer':
      return 'answer';
    default:
      return told satisfies never;
  }
}
