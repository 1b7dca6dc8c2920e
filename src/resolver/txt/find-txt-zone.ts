// Finds the zone that currently contains a name. A cached delegation could verify a domain for its former owner by servers
// that it has left.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { type Journey, walk } from '../walk/walk.ts';

type TxtZoneResult =
  | { readonly kind: 'arrived'; readonly zone: KnownZone }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** Delegations older than this are queried again. */
const MAX_AGE_MS = 60_000;

/** Throws Stopped. */
export async function findTxtZone(
  state: ResolverState,
  host: Name,
  journey: Journey,
  work: Work,
): Promise<TxtZoneResult> {
  for (;;) {
    const arrival = await walk(state, host, journey, { work, within: undefined, inclusive: true });
    if (arrival.kind === 'failed') return arrival;
    const oldest = state.around.now() - MAX_AGE_MS;
    const old = delegatedZones(journey.path).filter(({ knownSince }) => knownSince < oldest);
    if (old.filter(({ zone }) => journey.missed(zone)).length === 0) return arrival;
  }
}

/**
 * Returns the zones whose delegations must be confirmed. Delegations by the root rarely change, so a zone delegated by the
 * root is included only if it contains the name.
 */
export function delegatedZones(path: readonly KnownZone[]): readonly KnownZone[] {
  return path.slice(path.length > 2 ? 2 : 1);
}
