// Counts what a scan found in generated zones, by findability, type and kind, and what it invented.

import { printName } from '../../../src/dns/name.ts';
import { printRdata, rdataNames } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import type { CorpusZone } from './scan-corpus.ts';
import type { CorpusRecord, Label } from './scan-corpus-labels.ts';

export interface Count {
  found: number;
  all: number;
}

/** `name TYPE rdata`, normalized for differences between replies. */
export type KeyOf = (record: ZoneRecord) => string;

export interface Foreign {
  readonly domain: string;
  readonly what: string;
  readonly why: 'a wildcard made it' | 'it belongs to a zone below' | 'no server said it';
}

export class ScanTally {
  readonly byLabel = new Map<Label, Count>();
  /** Counts of findable records: learnable and common. */
  readonly byType = new Map<string, Count>();
  readonly bySort = new Map<string, Count>();
  readonly byKind = new Map<string, Count>();
  readonly missed: { readonly zone: CorpusZone; readonly record: CorpusRecord }[] = [];
  readonly foreign: Foreign[] = [];

  /** `keys` of everything that was found, from `keyOf`. */
  add(zone: CorpusZone, keys: ReadonlySet<string>, keyOf: KeyOf = exactKey): void {
    const own = new Set(zone.records.map(keyOf));
    for (const set of zone.zone.nodes.get(zone.zone.apex)?.sets.values() ?? []) {
      if (set.type !== TYPE.SOA && set.type !== TYPE.NS) continue;
      for (const rdata of set.rdata) own.add(keyOf({ ...set, rdata })); // at the apex: neither expected nor wrong
    }
    for (const key of keys) {
      if (!own.has(key))
        this.foreign.push({ domain: zone.domain, what: key, why: whyForeign(zone, key, keyOf) });
    }
    for (const record of zone.records) this.#count(zone, record, keys.has(keyOf(record)));
  }

  get recall(): number {
    const [learnable, common] = [this.of('learnable'), this.of('common')];
    return (learnable.found + common.found) / (learnable.all + common.all);
  }

  of(label: Label): Count {
    return this.byLabel.get(label) ?? { found: 0, all: 0 };
  }

  #count(zone: CorpusZone, record: CorpusRecord, isFound: boolean): void {
    add(this.byLabel, record.label, isFound);
    if (record.label !== 'learnable' && record.label !== 'common') return;
    add(this.byType, typeMnemonic(record.type), isFound);
    add(this.bySort, record.sort, isFound);
    add(this.byKind, zone.kind, isFound);
    if (!isFound) this.missed.push({ zone, record });
  }
}

function add<K>(counts: Map<K, Count>, key: K, isFound: boolean): void {
  const count = counts.get(key) ?? { found: 0, all: 0 };
  counts.set(key, count);
  count.all++;
  if (isFound) count.found++;
}

/** Names in rdata are compared case-insensitively (RFC 4343). */
export function exactKey({ owner, type, rdata }: ZoneRecord): string {
  const text = printRdata(type, rdata);
  const folded = rdataNames(type, rdata).length > 0 ? text.toLowerCase() : text;
  return `${printName(owner)} ${typeMnemonic(type)} ${folded}`;
}

function whyForeign(zone: CorpusZone, key: string, keyOf: KeyOf): Foreign['why'] {
  const name = `.${key.slice(0, key.indexOf(' '))}`;
  if (zone.children.some((child) => name.endsWith(`.${printName(child.apex)}`))) {
    return 'it belongs to a zone below';
  }
  const withoutName = (text: string) => text.slice(text.indexOf(' '));
  const wildcards = zone.records.filter(({ sort }) => sort === 'wildcard');
  const isMade = wildcards.some((record) => withoutName(keyOf(record)) === withoutName(key));
  return isMade ? 'a wildcard made it' : 'no server said it';
}
