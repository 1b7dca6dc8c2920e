// The nameservers of a domain: the sets that prove it, the sets that its owner sees, and the nameservers of its apex.

import type { Name } from '../../dns/name.ts';
import { type NameserverChoice, nameserverSetsOf } from '../../zone/publish/select-nameservers.ts';
import type { PublishSettings } from '../postgres/answer-settings.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { DomainRow } from './domain-row.ts';

type SetColumns = Pick<DomainRow, 'delegatedNs' | 'chosenNs' | 'nsSets'>;

export function nameserverChoice({
  delegatedNs,
  chosenNs,
}: Pick<SetColumns, 'delegatedNs' | 'chosenNs'>): NameserverChoice {
  return { delegated: delegatedNs?.map(decodeNameColumn), chosen: chosenNs?.map(decodeNameColumn) };
}

/** Returns the sets that prove the domain. Empty if all are used up. */
export function provingSets(
  { nsSets }: Pick<SetColumns, 'nsSets'>,
  { nameserverSets }: PublishSettings,
): readonly (readonly Name[])[] {
  return nsSets === null ? nameserverSets : nsSets.map(({ names }) => names.map(decodeNameColumn));
}

/** Returns the domain's own set first. Never empty: without a proving set, the apex has the canonical one. */
export function shownSets(row: SetColumns, settings: PublishSettings): readonly (readonly Name[])[] {
  const sets = provingSets(row, settings);
  return nameserverSetsOf(nameserverChoice(row), sets.length > 0 ? sets : canonicalSets(settings));
}

/** Returns the nameservers of the domain's apex: its own, or those of the claim whose turn it is. */
export function nameserversOf(
  { lentNs, ...row }: SetColumns & Partial<Pick<DomainRow, 'lentNs'>>,
  settings: PublishSettings,
): readonly Name[] {
  return lentNs?.map(decodeNameColumn) ?? (shownSets(row, settings)[0] as readonly Name[]);
}

function canonicalSets({ nameserverSets, pool }: PublishSettings): readonly (readonly Name[])[] {
  const [canonical] = nameserverSets;
  return [canonical ?? pool?.lists.flatMap((names) => names.slice(0, 1)) ?? []];
}
