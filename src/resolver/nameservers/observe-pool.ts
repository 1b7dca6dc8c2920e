// Observes our own nameservers from outside, starting at the root: the addresses of each name, the glue in the referrals to
// their zones, and if each address answers for a zone that we serve.

import type {
  AddressEvidence,
  GlueEvidence,
  HostEvidence,
  PoolEvidence,
} from '../../checks/nameservers/pool-evidence.ts';
import { isWithin, type Name } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ReplyOf } from '../replies/classify-reply.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askAuthority } from '../walk/ask-authority.ts';
import { askServer, isUseful } from '../walk/ask-server.ts';
import { askZone } from '../walk/ask-zone.ts';
import { Journey, keepReferral, walk } from '../walk/walk.ts';

export interface ObservedPool {
  readonly names: readonly Name[];
  readonly addresses: readonly string[];
  /** A zone that all our nodes serve. Undefined if there is none yet, in which case the addresses are not queried. */
  readonly served: Name | undefined;
}

/** Number of names looked up concurrently. Our nodes answer all of them. */
const AT_ONCE = 4;
const NO_ZONE = 'no zone is served yet';

/** Rejects with the signal's reason when that aborts. */
export async function observePool(
  state: ResolverState,
  { names, addresses, served }: ObservedPool,
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<PoolEvidence> {
  const { limits } = state.around;
  const one = <T>(perform: (work: Work) => Promise<T>, otherwise: (failure: string) => T): Promise<T> =>
    runWork(state, { limits, signal }, perform).catch((error: unknown) => {
      if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
      return otherwise(error.message);
    });
  const hosts = await inTurns(names, (name) =>
    one(
      (work) => observeHost(state, work, name),
      (failure) => ({ host: unknownHost(name, failure), zone: undefined }),
    ),
  );
  const zones = [...new Set(hosts.flatMap(({ zone }) => zone ?? []))];
  const referrals = await inTurns(zones, (zone) =>
    one(
      (work) => observeReferral(state, work, zone),
      (failure) => failure,
    ),
  );
  const ours = new Set(names);
  const probes = await inTurns(addresses, (address) =>
    one(
      (work) => probeAddress(state, work, address, served),
      (failure) => ({ address, outcome: 'fails' as const, reason: failure }),
    ),
  );
  return {
    hosts: hosts.map(({ host }) => host),
    glue: referrals.flatMap((seen) => (typeof seen === 'object' ? glueOf(seen, ours) : [])),
    unseen: zones.flatMap((zone, at) => {
      const seen = referrals[at];
      return typeof seen === 'string' ? [{ zone, failure: seen }] : [];
    }),
    addresses: probes,
  };
}

async function observeHost(
  state: ResolverState,
  work: Work,
  name: Name,
): Promise<{ readonly host: HostEvidence; readonly zone: Name | undefined }> {
  const journey = new Journey(state, state.root);
  const addresses: string[] = [];
  let zone: Name | undefined;
  for (const type of [TYPE.A, TYPE.AAAA]) {
    const result = await askAuthority(state, journey, { name, type }, { work, within: undefined });
    if (result.kind === 'failed') return { host: unknownHost(name, result.failure.message), zone };
    zone = result.zone.zone;
    const { reply } = result;
    if (reply.kind === 'alias') return { host: { name, addresses, isAlias: true, failure: undefined }, zone };
    if (reply.kind === 'answer') addresses.push(...reply.rdata.map(printAddress));
  }
  return { host: { name, addresses: [...new Set(addresses)], isAlias: false, failure: undefined }, zone };
}

function unknownHost(name: Name, failure: string): HostEvidence {
  return { name, addresses: [], isAlias: false, failure };
}

interface SeenReferral {
  readonly parent: Name;
  readonly reply: ReplyOf<'referral'>;
}

/**
 * Returns a text if the referral was not found. Returns undefined if the parent's servers also serve the zone and thus send
 * no glue.
 */
async function observeReferral(
  state: ResolverState,
  work: Work,
  zone: Name,
): Promise<SeenReferral | string | undefined> {
  const journey = new Journey(state, state.root);
  const options = { work, within: undefined };
  for (;;) {
    const arrival = await walk(state, zone, journey, options);
    if (arrival.kind === 'failed') return arrival.failure.message;
    const { zone: parent } = arrival;
    const result = await askZone(state, parent, { name: zone, type: TYPE.NS }, options);
    if (result.kind === 'failed') return result.failure.message;
    const { reply } = result;
    if (reply.kind !== 'referral') return undefined;
    if (reply.cut === zone) return { parent: parent.zone, reply };
    journey.learn(reply.cut, keepReferral(state, reply, work), parent.zone);
  }
}

function glueOf({ parent, reply }: SeenReferral, ours: ReadonlySet<Name>): GlueEvidence[] {
  return reply.ns
    .filter((name) => ours.has(name))
    .map((name) => ({
      name,
      parent,
      addresses: [...new Set(reply.glue.filter((each) => each.name === name).map(({ address }) => address))],
      isNeeded: isWithin(name, reply.cut),
    }));
}

async function probeAddress(
  state: ResolverState,
  work: Work,
  address: string,
  served: Name | undefined,
): Promise<AddressEvidence> {
  const skipped = (reason: string): AddressEvidence => ({ address, outcome: 'skipped', reason });
  if (served === undefined) return skipped(NO_ZONE);
  const { now, hasIpv6 } = state.around;
  if (address.includes(':') && !hasIpv6()) return skipped('this machine has no IPv6');
  const zone = state.knownZone(served, { names: [served], glue: [{ name: served, address }] });
  const [to] = zone.addresses(now(), true);
  if (to === undefined) return skipped('RESOLVER_ALLOW does not list it, and it is not public');
  const { reply } = await askServer(state, work, zone, to, { name: served, type: TYPE.SOA });
  if (reply.kind === 'answer') return { address, outcome: 'answers', reason: undefined };
  const reason = 'error' in reply && reply.error !== undefined ? reply.error : reply.kind;
  return {
    address,
    outcome: 'fails',
    reason: isUseful(reply) ? `it does not serve the zone (${reply.kind})` : reason,
  };
}

/** Runs a few at a time and keeps their order. */
async function inTurns<I, O>(items: readonly I[], perform: (item: I) => Promise<O>): Promise<O[]> {
  const results: O[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(perform))));
  }
  return results;
}
