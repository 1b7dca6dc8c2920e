// The registries in the order in which an operator looks at them: those that are held, then by how many turned away.

import { isHolding, type TripState } from './find-troubles.ts';

interface Counts {
  readonly parent?: string | undefined;
  readonly checked: number;
  readonly turned: number;
}

export interface RegistryRow extends Counts {
  /** From 0 to 1. */
  readonly share: number;
  readonly condition: 'held' | 'some' | 'fine';
}

const ORDER: readonly RegistryRow['condition'][] = ['held', 'some', 'fine'];

/** All domains together stand first. */
export function registryRows(breaker: {
  readonly checked: number;
  readonly turned: number;
  readonly parents: readonly Counts[];
  readonly trips: readonly TripState[];
}): RegistryRow[] {
  const holding = breaker.trips.filter(isHolding);
  const rowOf = ({ parent, checked, turned }: Counts): RegistryRow => ({
    parent,
    checked,
    turned,
    share: checked === 0 ? 0 : turned / checked,
    condition: holding.some((trip) => trip.parent === parent) ? 'held' : turned > 0 ? 'some' : 'fine',
  });
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
