// Observes a domain's delegation: walks to its parent, then queries the parent's addresses, never a cache. If this fleet
// serves the parent itself, the result comes from Postgres, because our own answers would prove nothing.

import { isConclusive } from '../../checks/delegation/conclusive.ts';
import type {
  Evidence,
  ServerEvidence,
  ServerOutcome,
  WalkedZone,
  WalkFailure,
} from '../../checks/delegation/evidence.ts';
import type { HeldZone } from '../../checks/delegation/held-zone.ts';
import { ValidationBudget } from '../../checks/validation/budget.ts';
import { compareNames, foldCase, type Name, printName, ROOT } from '../../dns/name.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { securePath } from '../validation/secure-path.ts';
import { isSilence, Journey, keepReferral, silenceOf, walk } from '../walk/walk.ts';
import { askParent } from './ask-parent.ts';

/** Results so far. */
export interface Seen {
  readonly walk: readonly WalkedZone[];
  readonly servers: readonly ServerEvidence[];
}

export interface ObserveOptions {
  readonly held?: HeldZone | undefined;
  readonly signal?: AbortSignal | undefined;
  /** If true, queries every address of the parent up to the limit, even if the first ones agree. */
  readonly isThorough?: boolean;
  /** Called once if the check has waited long for packets. If it returns false, the check ends. */
  readonly onSlow?: (() => boolean) | undefined;
  /** Called with each step. Must not throw. */
  readonly onStep?: ((seen: Seen) => void) | undefined;
  /** True if a user waits for the result: remembered timeouts are then ignored. */
  readonly fresh?: boolean | undefined;
}

/** Rejects with the signal's reason when that aborts. */
export async function observeDelegation(
  state: ResolverState,
  name: Name,
  { held, signal, onSlow, onStep, fresh, isThorough = false }: ObserveOptions = {},
): Promise<Evidence> {
  const domain = foldCase(name);
  if (domain === ROOT) throw new RangeError('the root has no parent');
  signal?.throwIfAborted();
  const startedAt = state.around.now();
  if (held !== undefined && (held.cut === undefined || held.cut === domain)) {
    return fromHeld(domain, held, startedAt);
  }
  const start =
    held?.cut === undefined ? state.root : state.knownZone(held.cut, { names: held.ns, glue: held.glue });
  const before: WalkedZone[] = held === undefined ? [] : [{ zone: held.zone, servers: [], cached: true }];
  const journey = new Journey(state, start, { fresh: fresh === true });
  const tell = (servers: readonly ServerEvidence[]) =>
    onStep?.({ walk: [...before, ...journey.walked()], servers });
  if (onStep !== undefined) journey.onStep = () => tell([]);
  return runWork(state, { limits: state.around.limits, signal, onSlow, fresh }, async (work) => {
    const observed = await observe(state, domain, journey, { work, isThorough, onServers: tell });
    return {
      domain,
      ...observed,
      walk: [...before, ...journey.walked()],
      queries: work.packets,
      startedAt,
      finishedAt: state.around.now(),
    };
  });
}

interface Asking {
  readonly work: Work;
  readonly isThorough: boolean;
  readonly onServers: (servers: readonly ServerEvidence[]) => void;
}

type ParentObservation = Pick<
  Evidence,
  'parent' | 'servers' | 'parentAddresses' | 'failure' | 'security' | 'rootFault'
>;

async function observe(
  state: ResolverState,
  domain: Name,
  journey: Journey,
  asking: Asking,
): Promise<ParentObservation> {
  const { work } = asking;
  try {
    return await walkAndAsk(state, domain, journey, asking);
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    const zone = work.reached;
    if (error.by === 'later') return failed(undefined, { zone, reason: 'later', message: error.message });
    return failed(
      undefined,
      isSilence(error, work) ? silenceOf(zone, error) : { zone, reason: 'limit', message: error.message },
    );
  }
}

async function walkAndAsk(
  state: ResolverState,
  domain: Name,
  journey: Journey,
  { work, isThorough, onServers }: Asking,
): Promise<ParentObservation> {
  const budget = new ValidationBudget();
  for (;;) {
    const arrival = await walk(state, domain, journey, { work, within: undefined });
    if (arrival.kind === 'failed') return failed(undefined, arrival.failure);
    const { zone, doubt } = arrival;
    const parent = zone.zone;
    const { silences } = state.around;
    const key = `parent ${printName(parent)}`;
    if (!work.fresh && silences?.isSilent(key)) return failed(parent, REMEMBERED(parent));
    const path = await securePath(state, journey.path, { work, budget });
    if (path.kind === 'failed') {
      state.zones.forgetOld(path.zone);
      return failed(parent, path.failure);
    }
    const { security, rootFault } = path;
    const keys = path.from && { from: path.from, budget, now: state.around.now };
    const mayMiss = (at: Name) => journey.missed(at);
    const result = await askParent(state, zone, domain, {
      work,
      doubt,
      mayMiss,
      keys,
      isThorough,
      onServers,
    });
    switch (result.kind) {
      case 'seen':
        if (result.servers.some(isConclusive)) silences?.noteReply(key);
        else if (isSilent(result.servers)) silences?.noteSilence(key);
        if (isUseless(result.servers) && state.zones.forgetOld(zone) && work.stopped === undefined) break;
        return {
          parent,
          servers: result.servers,
          parentAddresses: result.parentAddresses,
          failure: undefined,
          security,
          ...(rootFault && { rootFault }),
        };
      case 'failed':
        state.zones.forgetOld(zone);
        return failed(parent, result.failure);
      case 'cut': // the zone is new, or its parent's servers disagree about it: the parent is further down
        journey.learn(result.referral.cut, keepReferral(state, result.referral, work), parent);
        break;
      case 'missed':
        break;
      case 'doubted':
        journey.correct(result.name);
        break;
      default:
        return result satisfies never;
    }
  }
}

const REMEMBERED = (zone: Name): WalkFailure => ({
  zone,
  reason: 'unreachable',
  message: 'its servers did not answer recently and will be queried again later',
});

/** True if no server replied and at least one query ran until its timeout. */
function isSilent(servers: readonly ServerEvidence[]): boolean {
  const isAsked = servers.some(({ error }) => error === undefined);
  return isAsked && servers.every(({ outcome }) => outcome === 'timeout');
}

function isUseless(servers: readonly ServerEvidence[]): boolean {
  return !servers.some(isConclusive);
}

function failed(parent: Name | undefined, failure: WalkFailure): ParentObservation {
  return { parent, servers: [], parentAddresses: 0, failure, security: 'indeterminate' };
}

function fromHeld(domain: Name, held: HeldZone, at: number): Evidence {
  const isCut = held.cut !== undefined;
  const outcome: ServerOutcome = isCut
    ? 'referral'
    : held.alias
      ? 'alias'
      : held.exists
        ? 'nodata'
        : 'nxdomain';
  const server: ServerEvidence = {
    server: held.zone,
    address: '',
    transport: 'database',
    askedAt: at,
    rttMs: undefined,
    outcome,
    rcode: undefined,
    aa: undefined,
    ns: isCut ? [...new Set(held.ns.map(foldCase))].sort(compareNames) : [],
    ttl: held.ttl,
    ds: isCut ? [...held.ds].sort(Buffer.compare) : [],
    error: undefined,
  };
  return {
    domain,
    parent: held.zone,
    walk: [{ zone: held.zone, servers: [], cached: true }],
    servers: [server],
    parentAddresses: 1,
    failure: undefined,
    security: 'indeterminate',
    queries: 0,
    startedAt: at,
    finishedAt: at,
  };
}
