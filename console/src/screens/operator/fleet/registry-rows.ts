// Sorts the registries: held ones first, then by share of lost domains.

import { isHolding, type TripState } from './find-problems.ts';

interface Counts {
  readonly parent?: string | undefined;
  readonly checked: number;
  readonly turned: number;
}

export interface RegistryRow extends Counts {
  /** From 0 to 1. */
  readonly share: number;
  readonly condition: 'held' | 'many' | 'some' | 'fine';
}

/** Half of the share at which the breaker holds changes. A few domains move every day. */
const MANY_SHARE = 0.05;
const MANY_DOMAINS = 5;

const ORDER: readonly RegistryRow['condition'][] = ['held', 'many', 'some', 'fine'];

/** The total of all domains comes first. */
export function registryRows(breaker: {
  readonly checked: number;
  readonly turned: number;
  readonly parents: readonly Counts[];
  readonly trips: readonly TripState[];
}): RegistryRow[] {
  const holding = breaker.trips.filter(isHolding);
  const rowOf = ({ parent, checked, turned }: Counts): RegistryRow => {
    const share = checked === 0 ? 0 : turned / checked;
    const isMany = turned >= MANY_DOMAINS && share >= MANY_SHARE;
    const isHeld = holding.some((trip) => trip.parent === parent);
    const condition = isHeld ? 'held' : isMany ? 'many' : turned > 0 ? 'some' : 'fine';
    return { parent, checked, turned, share, condition };
  };
  const parents = breaker.parents
    .map(rowOf)
    .sort(
      (a, b) =>
        ORDER.indexOf(a.condition) - ORDER.indexOf(b.condition) ||
        b.turned - a.turned ||
        b.checked - a.checked,
    );
  return [rowOf({ checked: breaker.checked, turned: breaker.turned }), ...parents];
}
