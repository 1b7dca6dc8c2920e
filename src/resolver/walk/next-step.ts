// Decides the next step from what is known: during the walk from the root to the parent zone, and at the parent's
// addresses.
//
//   start ─> cut ─> cut ─> … ─> the last zone above the domain ─> its addresses: two, then all, until they agree
//        (queries the zone above for NS of each name in between; labels decide nothing)

import { isConclusive } from '../../checks/delegation/conclusive.ts';
import type { ServerEvidence, WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import type { CutState } from '../state/zone-cache.ts';

/** `path`: the zones from the start to the current one, including both. */
type Step<Z> = { readonly path: readonly Z[]; readonly zone: Z } & (
  | { readonly kind: 'ask'; readonly name: Name }
  /** No zone is known between `zone` and the domain. `doubt` is a name above the domain that servers deny. */
  | { readonly kind: 'arrived'; readonly doubt: Name | undefined }
  | { readonly kind: 'failed'; readonly failure: WalkFailure }
);

/**
 * `wanted` is below `start`. A cut at `wanted` itself counts only if `inclusive` is true, and no query is sent for it: the
 * parent is above it, but the addresses of a nameserver named like its zone are in that zone.
 */
export function nextStep<Z extends { readonly zone: Name }>(
  wanted: Name,
  start: Z,
  known: (name: Name) => CutState<Z> | undefined,
  { inclusive = false }: { inclusive?: boolean } = {},
): Step<Z> {
  const path = [start];
  let zone = start;
  const offsets = offsetsBelow(wanted, start.zone);
  for (let i = offsets.length - 1; i > 0; i--) {
    const name = wanted.slice(offsets[i]) as Name;
    const state = known(name);
    if (state === undefined) return { kind: 'ask', path, zone, name };
    if (state.kind === 'failed') return { kind: 'failed', path, zone, failure: state.failure };
    if (state.kind === 'nothing') return { kind: 'arrived', path, zone, doubt: name };
    if (state.kind === 'cut') {
      zone = state.zone;
      path.push(zone);
    }
  }
  const own = inclusive ? known(wanted) : undefined;
  if (own?.kind === 'cut') {
    zone = own.zone;
    path.push(zone);
  }
  return { kind: 'arrived', path, zone, doubt: undefined };
}

/** Returns the offsets of the name and of its ancestors below `zone`. */
function offsetsBelow(name: Name, zone: Name): number[] {
  const offsets: number[] = [];
  for (let i = 0; name.length - i > zone.length; i += name.charCodeAt(i) + 1) offsets.push(i);
  return offsets;
}

interface ParentProgress {
  readonly answers: readonly ServerEvidence[];
  /** Number of addresses not queried yet, and number of their nameservers without any queried address. */
  readonly addresses: number;
  readonly servers: number;
  /** Number of nameservers whose addresses can be looked up. */
  readonly unresolved: number;
  readonly maxAddresses: number;
  /** If true, all addresses are queried even if the first ones agree. */
  readonly isThorough?: boolean;
}

type ParentStep =
  | { readonly kind: 'ask'; readonly count: number }
  /** Look up one more nameserver of the parent. */
  | { readonly kind: 'resolve' }
  | { readonly kind: 'done' };

const ENOUGH = 2;

/**
 * Queries two addresses of different nameservers first, then more until two agree and none disagrees, or all if they differ
 * (docs/rules.md "Delegation check").
 */
export function nextParentStep({
  answers,
  addresses,
  servers,
  unresolved,
  maxAddresses,
  isThorough = false,
}: ParentProgress): ParentStep {
  const conclusive = answers.filter(isConclusive);
  const agree = conclusive.every((server) => saysTheSame(server, conclusive[0] as ServerEvidence));
  // An answer with AA comes from a server that also serves the domain's zone. Another server may show the parent's data.
  const onlyAnswers = conclusive.every(({ outcome }) => outcome === 'answer');
  if (conclusive.length >= ENOUGH && agree && !onlyAnswers && !isThorough) return { kind: 'done' };

  const room = maxAddresses - answers.length;
  if (room <= 0) return { kind: 'done' };
  if (addresses === 0) return unresolved > 0 ? { kind: 'resolve' } : { kind: 'done' };
  const oneIsMissing = answers.length === ENOUGH && conclusive.length === ENOUGH - 1;
  const wanted = answers.length < ENOUGH ? ENOUGH - answers.length : oneIsMissing ? 1 : room;
  // The first two belong to different nameservers, but no query waits for another server's address lookup.
  const ofOthers = answers.length < ENOUGH && unresolved > 0 ? servers : addresses;
  if (ofOthers === 0) return { kind: 'resolve' };
  return { kind: 'ask', count: Math.min(wanted, room, ofOthers) };
}

/** Sets are in canonical order. */
function saysTheSame(a: ServerEvidence, b: ServerEvidence): boolean {
  return (
    a.outcome === b.outcome &&
    a.ns.length === b.ns.length &&
    a.ns.every((name, i) => name === b.ns[i]) &&
    a.ds.length === b.ds.length &&
    a.ds.every((rdata, i) => Buffer.compare(rdata, b.ds[i] as Uint8Array) === 0)
  );
}
