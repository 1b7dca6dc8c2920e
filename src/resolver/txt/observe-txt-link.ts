// Observes one link of the chain to a challenge's values: the zone that contains the name, and the answer of every address
// of its servers.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { TxtLink } from '../../checks/txt/txt-evidence.ts';
import type { Name } from '../../dns/name.ts';
import type { UsefulReply } from '../replies/classify-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { askEveryServer, type TxtResult } from '../walk/ask-every-server.ts';
import { isUseful } from '../walk/ask-server.ts';
import { type ConfirmedZone, confirmZone } from '../walk/confirm-zone.ts';
import { Journey, keepReferral } from '../walk/walk.ts';
import { delegatedZones, findTxtZone } from './find-txt-zone.ts';

export interface ObservedLink {
  readonly kind: 'found';
  readonly link: TxtLink;
  readonly zone: KnownZone;
  /** The delegating zone. */
  readonly above: KnownZone | undefined;
  /** The zone and its ancestors, without the root and the zones delegated by the root. */
  readonly path: readonly KnownZone[];
  /** Addresses that answered for the zone. */
  readonly answered: readonly ZoneAddress[];
  /** The most common answer. */
  readonly mostCommon: UsefulReply | undefined;
}

/** State shared by the links of one observation: addresses that do not answer, and confirmed zones. */
export interface LinkContext {
  readonly silent: Set<string>;
  readonly confirmed: Set<KnownZone>;
}

/** Throws Stopped. */
export async function observeTxtLink(
  state: ResolverState,
  host: Name,
  context: LinkContext,
  work: Work,
): Promise<ObservedLink | { readonly kind: 'failed'; readonly failure: WalkFailure }> {
  const journey = new Journey(state, state.root, work);
  const confirmed: ConfirmedZone[] = [];
  for (;;) {
    const arrival = await findTxtZone(state, host, journey, work);
    if (arrival.kind === 'failed') return arrival;
    const { zone } = arrival;
    const [{ results, missing }, others] = await Promise.all([
      askEveryServer(state, work, zone, host, context.silent),
      confirmZones(state, journey, context, work),
    ]);
    confirmed.push(...others);
    const mostCommon = findMostCommon(results);
    if (mostCommon?.kind === 'referral') {
      journey.learn(mostCommon.cut, keepReferral(state, mostCommon, work), zone.zone);
      continue;
    }
    // Zones that the walk did not see. At the host itself, its own servers decide.
    const isBetween =
      mostCommon !== undefined &&
      'soa' in mostCommon &&
      mostCommon.soa !== zone.zone &&
      mostCommon.soa !== host;
    const unseen = [isBetween ? mostCommon.soa : undefined, ...others.map(({ between }) => between)];
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
        servers: [...results.map(({ evidence }) => evidence), ...missing],
        again: [],
        primaries: [],
      },
      zone,
      above: journey.path.at(-2),
      path: journey.path.slice(Math.min(2, journey.path.length - 1)),
      answered: results.filter(({ reply }) => isUseful(reply)).map(({ to }) => to),
      mostCommon,
    };
  }
}

async function confirmZones(
  state: ResolverState,
  { path }: Journey,
  { confirmed, silent }: LinkContext,
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

/** Returns the most frequent reply, or the first of several. */
function findMostCommon(results: readonly TxtResult[]): UsefulReply | undefined {
  const counts = new Map<string, { readonly reply: UsefulReply; count: number }>();
  for (const { reply } of results) {
    if (!isUseful(reply)) continue;
    const key = keyOf(reply);
    const counted = counts.get(key);
    if (counted === undefined) counts.set(key, { reply: reply, count: 1 });
    else counted.count++;
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)[0]?.reply;
}

function keyOf(reply: UsefulReply): string {
  switch (reply.kind) {
    case 'alias':
      return `alias ${reply.target}`;
    case 'referral':
      return `referral ${reply.cut} ${reply.ns.join('')}`;
    case 'nodata':
    case 'nxdomain':
      return `negative ${reply.soa}`;
    case 'answer':
      return 'answer';
    default:
      return reply satisfies never;
  }
}
