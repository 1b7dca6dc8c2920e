// The walk from a zone down to the one that holds a name, cut by cut. The names between are asked for NS one label at a
// time (RFC 9156), at one server of the zone above. The result is cached, and found once for all checks that need it.

import type { WalkedZone, WalkFailure } from '../../checks/delegation/evidence.ts';
import { type Name, parentOf, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { namesIn, type Told, type ToldOf } from '../replies/read-reply.ts';
import { type Errand, Errands } from '../state/errands.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { Stopped, type Work } from '../state/work.ts';
import type { CutFound } from '../state/zone-cache.ts';
import { type Asked, askZone } from './ask-zone.ts';
import { nextStep } from './next-step.ts';

const NO_CUT: CutFound = { kind: 'none' };

/**
 * What one walk, or several for one name, learned by itself: it holds even where a TTL of 0 keeps it from the cache.
 */
export class Journey {
  readonly start: KnownZone;
  /** The path so far, from the start to the last zone. */
  path: readonly KnownZone[];
  readonly #state: ResolverState;
  readonly #learned = new Map<Name, CutFound>();
  readonly #fresh = new Set<KnownZone>();
  readonly #missed = new Set<Name>();

  constructor(state: ResolverState, start: KnownZone) {
    this.#state = state;
    this.start = start;
    this.path = [start];
  }

  readonly known = (name: Name): CutFound | undefined =>
    this.#learned.get(name) ?? this.#state.zones.get(name);

  /** `above`: the zone whose servers said so. */
  learn(at: Name, found: CutFound, above: Name): void {
    this.#learned.set(at, found);
    if (found.kind !== 'cut') return;
    this.#fresh.add(found.zone);
    for (let name = parentOf(at); name.length > above.length; name = parentOf(name)) {
      if (this.known(name)?.kind === 'nothing') this.correct(name);
      else this.#learned.set(name, NO_CUT);
    }
  }

  /** A name below `name` exists, so NXDOMAIN for `name` was wrong (RFC 8020 §2). */
  correct(name: Name): void {
    this.#learned.set(name, this.#state.zones.putNothingIsWrong(name));
  }

  /** A server holds a zone at `name`, where no cut was known: forget that. False when that was done before. */
  missed(name: Name): boolean {
    if (this.#missed.has(name)) return false;
    this.#missed.add(name);
    this.#learned.delete(name);
    this.#state.zones.forget(name);
    return true;
  }

  walked(): WalkedZone[] {
    return this.path.map((zone) => (this.#fresh.has(zone) ? { ...zone.walked, cached: false } : zone.walked));
  }
}

export type Walked =
  | { readonly kind: 'arrived'; readonly zone: KnownZone; readonly doubt: Name | undefined }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** Throws Stopped. */
export async function walk(
  state: ResolverState,
  wanted: Name,
  journey: Journey,
  options: { work: Work; within: Errand | undefined; inclusive?: boolean },
): Promise<Walked> {
  const { work, within, inclusive = false } = options;
  for (;;) {
    const step = nextStep(wanted, journey.start, journey.known, { inclusive });
    journey.path = step.path;
    if (within === undefined) work.reached = step.zone.zone;
    if (step.kind !== 'ask') return step;
    const { at, found } = await findCut(state, step.zone, step.name, { work, within });
    if (found !== undefined) journey.learn(at, found, step.zone.zone);
    else if (!journey.missed(at)) journey.learn(step.name, NO_CUT, step.zone.zone);
  }
}

/**
 * Without `found`: a server of the zone holds another zone at `at`, above the name, so what is known of `at` is wrong.
 */
interface Found {
  readonly at: Name;
  readonly found: CutFound | undefined;
}

/** Finds a cut at the name, or at a name between it and the zone. */
async function findCut(
  state: ResolverState,
  zone: KnownZone,
  name: Name,
  { work, within }: { work: Work; within: Errand | undefined },
): Promise<Found> {
  const key = `cut ${zone.zone} ${name}`;
  if (Errands.isLoop(key, within)) {
    const message = `the servers of ${printName(zone.zone)} can only be found by asking themselves`;
    return { at: name, found: { kind: 'failed', failure: { zone: zone.zone, reason: 'loop', message } } };
  }
  const look = (): Found | undefined => {
    const found = state.zones.get(name);
    return found === undefined ? undefined : { at: name, found };
  };
  return state.errands.run<Found>(key, { work, within, look }, async (errand) => {
    const asked = await askForCut(state, zone, name, { work, within: errand });
    if (asked.kind === 'told') return { value: keepCut(state, zone, name, asked, work), isForAll: true };
    const { failure } = asked;
    state.zones.forgetOld(zone);
    // In the middle of something else a loop or a limit may be its own.
    const isOurs = within !== undefined && (failure.reason === 'loop' || failure.reason === 'limit');
    const found: CutFound = isOurs ? { kind: 'failed', failure } : state.zones.putFailure(name, failure);
    return { value: { at: name, found }, isForAll: !isOurs };
  });
}

async function askForCut(
  state: ResolverState,
  zone: KnownZone,
  name: Name,
  options: { work: Work; within: Errand },
): Promise<Asked> {
  try {
    // A zone whose own apex has no NS is none that anybody can be referred to.
    const counts = (told: Told) => !('soa' in told) || told.soa !== name;
    return await askZone(state, zone, { name, type: TYPE.NS }, options, counts);
  } catch (error) {
    // Silence that outlasts a check is a failure to be remembered too (RFC 9520 §3.2).
    if (error instanceof Stopped && isSilence(error, options.work)) {
      state.zones.putFailure(name, silenceOf(zone.zone, error));
    }
    throw error;
  }
}

/** Whether time ran out and the last event was that no server answered. */
export function isSilence({ by }: Stopped, { unanswered }: Work): boolean {
  return by === 'time' && unanswered >= 2;
}

export function silenceOf(zone: Name, { message }: Stopped): WalkFailure {
  return {
    zone,
    reason: 'unreachable',
    message: `no reply from the servers of ${printName(zone)}: ${message}`,
  };
}

function keepCut(
  state: ResolverState,
  zone: KnownZone,
  name: Name,
  { told, from }: Extract<Asked, { kind: 'told' }>,
  work: Work,
): Found {
  switch (told.kind) {
    case 'referral':
      return { at: told.cut, found: keepReferral(state, told, work) };
    case 'answer':
      return { at: name, found: keepAnswer(state, name, { told, from, zone }, work) };
    case 'alias':
      return { at: name, found: state.zones.putNegative(name, 'none', told.ttl) };
    case 'nodata':
    case 'nxdomain':
      if (told.soa !== zone.zone) {
        work.countReferral();
        return { at: told.soa, found: undefined };
      }
      return {
        at: name,
        found: state.zones.putNegative(name, told.kind === 'nodata' ? 'none' : 'nothing', told.ttl),
      };
    default:
      return told satisfies never;
  }
}

/** Throws Stopped. */
export function keepReferral(state: ResolverState, told: ToldOf<'referral'>, work: Work): CutFound {
  work.countReferral();
  const zone = state.knownZone(told.cut, { names: told.ns, glue: told.glue });
  return state.zones.putCut(zone, lowestTtl(told));
}

/**
 * The servers of the zone above hold this zone too: where its set names the same servers, they have the same addresses.
 */
function keepAnswer(
  state: ResolverState,
  name: Name,
  { told, from, zone }: { told: ToldOf<'answer'>; from: ZoneAddress; zone: KnownZone },
  work: Work,
): CutFound {
  work.countReferral();
  const names = namesIn(told.rdata);
  const glue = [...told.glue, ...zone.addressesOf(names)];
  const spare = { name: from.server, address: from.address };
  return state.zones.putCut(state.knownZone(name, { names, glue, spare }), lowestTtl(told));
}

function lowestTtl({ ttl, glue }: ToldOf<'referral' | 'answer'>): number {
  return glue.reduce((lowest, record) => Math.min(lowest, record.ttl), ttl);
}
