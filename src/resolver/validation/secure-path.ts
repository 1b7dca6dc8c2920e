// Validates the chain from the root's trust anchors to a zone: for each zone on the path, its DS set at the parent, and its
// keys (RFC 4035 §5). Results are cached per zone and shared by concurrent checks.

import type { Security, WalkFailure } from '../../checks/delegation/evidence.ts';
import type { ValidationBudget } from '../../checks/validation/budget.ts';
import { setAt } from '../../checks/validation/signed-sets.ts';
import { type DsValidation, type SecureZone, validateDs } from '../../checks/validation/validate-reply.ts';
import { type KeysResult, usableDs, validateKeys } from '../../checks/validation/zone-keys.ts';
import { type Name, printName, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { UsefulReply } from '../replies/classify-reply.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { SharedTask } from '../state/shared-tasks.ts';
import type { ZoneTrust } from '../state/trust-cache.ts';
import type { Work } from '../state/work.ts';
import { askZone } from '../walk/ask-zone.ts';

type PathResult =
  | {
      readonly kind: 'found';
      readonly security: Security;
      /** The last zone, if it is secure. */
      readonly from: SecureZone | undefined;
      readonly rootFault?: true;
    }
  | { readonly kind: 'failed'; readonly zone: KnownZone; readonly failure: WalkFailure };

/** Throws Stopped. `path`: the zones from the root to the parent, including both. */
export async function securePath(
  state: ResolverState,
  path: readonly KnownZone[],
  { work, budget }: { readonly work: Work; readonly budget: ValidationBudget },
): Promise<PathResult> {
  const anchors = state.around.trustAnchors?.() ?? [];
  const beginsAtRoot = path[0]?.zone === ROOT;
  if (anchors.length === 0 || !beginsAtRoot) return open();
  let above: Above | undefined;
  for (const known of path) {
    const { zone } = known;
    const trust = await trustOf(state, known, above, { work, budget, anchors });
    if (trust.kind === 'insecure') return { kind: 'found', security: 'insecure', from: undefined };
    if (trust.kind === 'failed') {
      return zone === ROOT ? open(true) : { kind: 'failed', zone: known, failure: trust.failure };
    }
    above = { known, secure: { zone, keys: trust.keys } };
  }
  return { kind: 'found', security: 'secure', from: above?.secure };
}

function open(rootFault?: true): PathResult {
  return { kind: 'found', security: 'indeterminate', from: undefined, ...(rootFault && { rootFault }) };
}

/** The parent zone, whose keys are known. */
interface Above {
  readonly known: KnownZone;
  readonly secure: SecureZone;
}

interface Means {
  readonly work: Work;
  readonly budget: ValidationBudget;
  readonly anchors: readonly Uint8Array[];
}

function trustOf(
  state: ResolverState,
  known: KnownZone,
  above: Above | undefined,
  means: Means,
): Promise<ZoneTrust> {
  const { zone } = known;
  const aboveName = above?.secure.zone;
  const look = () => state.trust.get(zone, aboveName);
  const key = `trust ${aboveName ?? ''} ${zone}`;
  return state.sharedTasks.run(key, { work: means.work, within: undefined, look }, async (task) => {
    const found = await findTrust(state, known, above, { ...means, task });
    const isRootFault = found.kind === 'failed' && zone === ROOT;
    if (isRootFault) state.around.onRootFault?.(found.failure.message);
    const value =
      found.kind === 'failed'
        ? state.trust.putFailure(zone, aboveName, found.failure)
        : state.trust.put(zone, aboveName, found.trust, found.until);
    return { value, isReusable: true };
  });
}

type Found =
  | { readonly kind: 'found'; readonly trust: ZoneTrust; readonly until: number }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

type SharedTasks = Means & { readonly task: SharedTask };

async function findTrust(
  state: ResolverState,
  known: KnownZone,
  above: Above | undefined,
  means: SharedTasks,
): Promise<Found> {
  const { zone } = known;
  const ds =
    above === undefined
      ? ({ kind: 'secure', ds: means.anchors, until: Number.POSITIVE_INFINITY } as const)
      : await askForDs(state, zone, above, means);
  if (ds.kind === 'failed') return ds;
  const usable = ds.kind === 'insecure' ? [] : usableDs(ds.ds);
  if (usable.length === 0 && above === undefined) return bogus(zone, 'no trust anchor is usable');
  if (usable.length === 0) return { kind: 'found', trust: { kind: 'insecure' }, until: ds.until * 1000 };
  const keys = await askForKeys(state, known, usable, means);
  if (keys.kind === 'failed') return keys;
  const until = Math.min(ds.until, keys.until) * 1000;
  return { kind: 'found', trust: { kind: 'secure', keys: keys.keys }, until };
}

type Failed = { readonly kind: 'failed'; readonly failure: WalkFailure };

async function askForDs(
  state: ResolverState,
  zone: Name,
  { known, secure }: Above,
  { work, budget, task }: SharedTasks,
): Promise<Extract<DsValidation, { until: number }> | Failed> {
  let seen: DsValidation | undefined;
  const question = { name: zone, type: TYPE.DS };
  const result = await askZone(state, known, question, { work, within: task }, (reply, message) => {
    if (!isAboutDs(reply, zone, secure.zone)) return false;
    seen = validateDs(message, zone, secure, { at: seconds(state), budget });
    return seen.kind !== 'bogus'; // another server may have a valid answer
  });
  return outcomeOf(secure.zone, seen, result.kind === 'failed' ? result.failure : undefined);
}

/** Only the parent zone can tell if there is a DS set. */
function isAboutDs(reply: UsefulReply, zone: Name, above: Name): boolean {
  switch (reply.kind) {
    case 'answer':
      return true;
    case 'nodata':
      return reply.soa === above;
    case 'referral':
      return reply.cut === zone;
    case 'alias':
    case 'nxdomain':
      return false;
    default:
      return reply satisfies never;
  }
}

async function askForKeys(
  state: ResolverState,
  known: KnownZone,
  ds: ReturnType<typeof usableDs>,
  { work, budget, task }: SharedTasks,
): Promise<Extract<KeysResult, { kind: 'secure' }> | Failed> {
  const { zone } = known;
  let seen: KeysResult | undefined;
  const question = { name: zone, type: TYPE.DNSKEY };
  const result = await askZone(state, known, question, { work, within: task }, (reply, { answers }) => {
    const set = reply.kind === 'answer' ? setAt(answers, zone, TYPE.DNSKEY) : undefined;
    if (set === undefined) seen ??= { kind: 'bogus', reason: 'there are no keys' };
    else seen = validateKeys(set, ds, { at: seconds(state), budget });
    return seen.kind !== 'bogus';
  });
  return outcomeOf(zone, seen, result.kind === 'failed' ? result.failure : undefined);
}

function outcomeOf<S extends DsValidation | KeysResult>(
  zone: Name,
  seen: S | undefined,
  failure: WalkFailure | undefined,
): Extract<S, { until: number }> | Failed {
  if (seen === undefined) {
    return { kind: 'failed', failure: failure ?? bogus(zone, 'there was no answer').failure };
  }
  if ('until' in seen) return seen as Extract<S, { until: number }>;
  const { kind, reason } = seen as Extract<S, { reason: string }>;
  return kind === 'limit' ? tooMuch(zone, reason) : bogus(zone, reason);
}

function bogus(zone: Name, reason: string): Failed {
  const message = `the signatures of ${printName(zone)} do not validate: ${reason}`;
  return { kind: 'failed', failure: { zone, reason: 'bogus', message } };
}

function tooMuch(zone: Name, reason: string): Failed {
  const message = `validating ${printName(zone)} exceeds a limit: ${reason}`;
  return { kind: 'failed', failure: { zone, reason: 'validation_limit', message } };
}

function seconds(state: ResolverState): number {
  return Math.floor(state.around.now() / 1000);
}
