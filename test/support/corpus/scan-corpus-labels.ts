// Classifies what an outsider could find in a zone: names that other records mention can be found, regardless of the name.

import {
  foldCase,
  isWildcard,
  isWithin,
  type Name,
  parentOf,
  parseName,
  prependLabel,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { rdataNames } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

/**
 * `learnable`: found through other records. `common`: in common use, in the judgement of the corpus's author. `shadowed`: a
 * wildcard has the same data, so that nothing is lost without it.
 */
export type Label = 'learnable' | 'common' | 'obscure' | 'shadowed';

/** Kind of the record, for the report of missed records. */
export type Sort = 'host' | 'DKIM' | 'DANE' | 'SRV' | 'verification' | 'wildcard' | 'cut' | 'glue';

export interface DraftRecord extends ZoneRecord {
  /** Label before it is known what mentions the record. */
  readonly label: 'learnable' | 'common' | 'obscure';
  readonly sort: Sort;
}

export interface CorpusRecord extends ZoneRecord {
  readonly label: Label;
  readonly sort: Sort;
}

export function labelRecords(apex: Name, drafts: readonly DraftRecord[]): CorpusRecord[] {
  const byName = new Map<Name, DraftRecord[]>();
  for (const draft of drafts) byName.set(draft.owner, [...(byName.get(draft.owner) ?? []), draft]);
  const known = knownNames(apex, byName);
  const shadowed = new Set([...byName.keys()].filter((name) => isShadowed(apex, name, byName)));
  return drafts.map((draft) => ({ ...draft, label: labelOf(draft) }));

  function labelOf({ owner, label }: DraftRecord): Label {
    if (owner === apex) return 'learnable';
    if (shadowed.has(owner)) return 'shadowed';
    return label === 'obscure' && known.has(owner) ? 'learnable' : label;
  }
}

/** Returns the apex, common names, the names that these mention, their ancestors, and so on. */
function knownNames(apex: Name, byName: ReadonlyMap<Name, readonly DraftRecord[]>): ReadonlySet<Name> {
  const known = new Set<Name>();
  const visit = (name: Name): void => {
    if (known.has(name) || !isWithin(name, apex)) return;
    known.add(name);
    if (name !== apex) visit(parentOf(name));
    const wildcard = wildcardBelow(name);
    if (wildcard !== undefined && byName.has(wildcard)) visit(wildcard);
    for (const record of byName.get(name) ?? []) for (const next of leadsTo(apex, record)) visit(next);
  };
  visit(apex);
  for (const [name, records] of byName) if (records.some(({ label }) => label !== 'obscure')) visit(name);
  return known;
}

function leadsTo(apex: Name, { type, rdata }: DraftRecord): Name[] {
  if (type === TYPE.TXT) return namesInSpf(apex, Buffer.from(rdata).toString('latin1'));
  const targets = rdataNames(type, rdata).map(foldCase);
  if (type !== TYPE.MX) return targets;
  const daneOwners = targets.map((target) => prependLabel('_25', prependLabel('_tcp', target) ?? target));
  return [...targets, ...daneOwners.filter((name) => name !== undefined)]; // RFC 7672 §2.2.3
}

/** RFC 7208 §5, §6.1: the mechanisms and the modifier that name a domain. */
function namesInSpf(apex: Name, text: string): Name[] {
  if (!text.includes('v=spf1')) return [];
  const found = text.matchAll(/\b(?:a|mx|include|redirect|exists)[:=]([\w.-]+)/g);
  return [...found].map(([, name]) => foldCase(parseName(`${name}.`))).filter((name) => isWithin(name, apex));
}

/** True if every set of the name equals what a wildcard would generate. */
function isShadowed(apex: Name, name: Name, byName: ReadonlyMap<Name, readonly DraftRecord[]>): boolean {
  if (name === apex || isWildcard(name)) return false;
  const names = [...byName.keys()];
  if (names.some((other) => other !== name && isWithin(other, name))) return false;
  let encloser = parentOf(name);
  while (encloser !== apex && !names.some((other) => isWithin(other, encloser)))
    encloser = parentOf(encloser);
  const wildcard = wildcardBelow(encloser);
  const made = wildcard === undefined ? undefined : byName.get(wildcard);
  return made !== undefined && textOf(made) === textOf(byName.get(name) ?? []);
}

function textOf(records: readonly ZoneRecord[]): string {
  return records
    .map(({ type, rdata }) => `${type} ${Buffer.from(rdata).toString('hex')}`)
    .sort()
    .join();
}
