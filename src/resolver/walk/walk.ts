// Walks from a zone down to the one that contains a name, one zone cut at a time. The names between are queried for NS one
// label at a time (RFC 9156), at one server of the zone above. Results are cached and shared by concurrent checks.

import type { WalkedZone, WalkFailure } from '../../checks/delegation/evidence.ts';
import { type Name, parentOf, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { namesIn, type ReplyOf, type UsefulReply } from '../replies/classify-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { type SharedTask, SharedTasks } from '../state/shared-tasks.ts';
import { Stopped, type Work } from '../state/work.ts';
import type { KnownCut } from '../state/zone-cache.ts';
import { askZone, type ZoneResult } from './ask-zone.ts';
import { nextStep } from './next-step.ts';

const NO_CUT: KnownCut = { kind: 'none' };

/** The zones that one walk, or several walks for one name, have found. They are kept even if a TTL of 0 prevents caching. */
export class Journey {
  readonly start: KnownZone;
  /** The path so far, from the start to the last zone. */
  path: readonly KnownZone[];
  /** Called when the path has grown. */
  onStep: (() => void) | undefined;
  readonly #state: ResolverState;
  readonly #learned = new Map<Name, KnownCut>();
  readonly #fresh = new Set<KnownZone>();
  readonly #missed = new Set<Name>();

  readonly #failuresSince: number | undefined;

  /** `fresh`: a user waits for the result, so failures of other checks are ignored. */
  constructor(state: ResolverState, start: KnownZone, { fresh = false }: { readonly fresh?: boolean } = {}) {
    this.#failuresSince = fresh ? state.around.now() : undefined;
    this.#state = state;
    this.start = start;
    this.path = [start];
  }

  readonly known = (name: Name): KnownCut | undefined =>
    this.#learned.get(name) ?? this.#state.zones.get(name, this.#failuresSince);

  /** `above`: the zone whose servers answered. */
  learn(at: Name, cut: KnownCut, above: Name): void {
    this.#learned.set(at, cut);
    if (cut.kind !== 'cut') return;
    this.#fresh.add(cut.zone);
    for (let name = parentOf(at); name.length > above.length; name = parentOf(name)) {
      if (this.known(name)?.kind === 'nothing') this.correct(name);
      else this.#learned.set(name, NO_CUT);
    }
  }

  /** A name below `name` exists, so NXDOMAIN for `name` was wrong (RFC 8020 §2). */
  correct(name: Name): void {
    this.#learned.set(name, this.#state.zones.putNothingIsWrong(name));
  }

  /**
   * Forgets that there is no cut at `name`, because a server serves a zone there. Returns false if this was done before.
   */
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

type WalkResult =
  | { readonly kind: 'arrived'; readonly zone: KnownZone; readonly doubt: Name | undefined }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** Throws Stopped. */
export async function walk(
  state: ResolverState,
  wanted: Name,
  journey: Journey,
  options: { work: Work; within: SharedTask | undefined; inclusive?: boolean },
): Promise<WalkResult> {
  const { work, within, inclusive = false } = options;
  for (;;) {
    const step = nextStep(wanted, journey.start, journey.known, { inclusive });
    const isNews = step.path.length > journey.path.length;
    journey.path = step.path;
    if (isNews) journey.onStep?.();
    if (within === undefined) work.reached = step.zone.zone;
    if (step.kind !== 'ask') return step;
    const { at, cut } = await findCut(state, step.zone, step.name, { work, within });
    if (cut !== undefined) journey.learn(at, cut, step.zone.zone);
    else if (!journey.missed(at)) journey.learn(step.name, NO_CUT, step.zone.zone);
  }
}

/** Without `cut`: a server of the zone serves another zone at `at`, above the name, so the known state of `at` is wrong. */
interface CutResult {
  readonly at: Name;
  readonly cut: KnownCut | undefined;
}

/** Finds a cut at the name, or at a name between it and the zone. */
async function findCut(
  state: ResolverState,
  zone: KnownZone,
  name: Name,
  { work, within }: { work: Work; within: SharedTask | undefined },
): Promise<CutResult> {
  const key = `cut ${zone.zone} ${name}`;
  if (SharedTasks.isLoop(key, within)) {
    const message = `the servers of ${printName(zone.zone)} can only be found by querying these servers`;
    return { at: name, cut: { kind: 'failed', failure: { zone: zone.zone, reason: 'loop', message } } };
  }
  const look = (): CutResult | undefined => {
    const cut = state.zones.get(name, work.failuresSince);
    return cut === undefined ? undefined : { at: name, cut };
  };
  return state.sharedTasks.run<CutResult>(key, { work, within, look }, async (task) => {
    const result = await askForCut(state, zone, name, { work, within: task });
    if (result.kind === 'answered')
      return { value: keepCut(state, zone, name, result, work), isReusable: true };
    const { failure } = result;
    state.zones.forgetOld(zone);
    // A loop or limit inside another lookup may apply only to that lookup.
    const isOurs = within !== undefined && (failure.reason === 'loop' || failure.reason === 'limit');
    const cut: KnownCut = isOurs ? { kind: 'failed', failure } : state.zones.putFailure(name, failure);
    return { value: { at: name, cut }, isReusable: !isOurs };
  });
}

async function askForCut(
  state: ResolverState,
  zone: KnownZone,
  name: Name,
  options: { work: Work; within: SharedTask },
): Promise<ZoneResult> {
  try {
    // Ignore a reply whose SOA is at `name` itself: a zone without NS records at its apex cannot be the target of a
    // referral.
    const counts = (reply: UsefulReply) => !('soa' in reply) || reply.soa !== name;
    return await askZone(state, zone, { name, type: TYPE.NS }, options, counts);
  } catch (error) {
    // A timeout that outlasts a check is also a failure to be cached (RFC 9520 §3.2).
    if (error instanceof Stopped && isSilence(error, options.work)) {
      state.zones.putFailure(name, silenceOf(zone.zone, error));
    }
    throw error;
  }
}

/** True if time ran out after the last queries got no answer. */
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
  { reply, from }: Extract<ZoneResult, { kind: 'answered' }>,
  work: Work,
): CutResult {
  switch (reply.kind) {
    case 'referral':
      return { at: reply.cut, cut: keepReferral(state, reply, work) };
    case 'answer':
      return { at: name, cut: keepAnswer(state, name, { reply, from, zone }, work) };
    case 'alias':
      return { at: name, cut: state.zones.putNegative(name, 'none', reply.ttl) };
    case 'nodata':
    case 'nxdomain':
      if (reply.soa !== zone.zone) {
        work.countReferral();
        return { at: reply.soa, cut: undefined };
      }
      return {
        at: name,
        cut: state.zones.putNegative(name, reply.kind === 'nodata' ? 'none' : 'nothing', reply.ttl),
      };
    default:
      return reply satisfies never;
  }
}

/** Throws Stopped. */
export function keepReferral(state: ResolverState, reply: ReplyOf<'referral'>, work: Work): KnownCut {
  work.countReferral();
  const zone = state.knownZone(reply.cut, { names: reply.ns, glue: reply.glue });
  return state.zones.putCut(zone, lowestTtl(reply));
}

/** The servers of the parent also serve this zone: names in its set that also serve the parent have the same addresses. */
function keepAnswer(
  state: ResolverState,
  name: Name,
  { reply, from, zone }: { reply: ReplyOf<'answer'>; from: ZoneAddress; zone: KnownZone },
  work: Work,
): KnownCut {
  work.countReferral();
  const names = namesIn(reply.rdata);
  const glue = [...reply.glue, ...zone.addressesOf(names)];
  const spare = { name: from.server, address: from.address };
  return state.zones.putCut(state.knownZone(name, { names, glue, spare }), lowestTtl(reply));
}

function lowestTtl({ ttl, glue }: ReplyOf<'referral' | 'answer'>): number {
  return glue.reduce((lowest, record) => Math.min(lowest, record.ttl), ttl);
}
