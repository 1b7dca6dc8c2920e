// What the key machine remembers of a domain: plain JSON, stored as it is. All times are milliseconds since 1970, by the
// clock of Postgres.
//
//   off ── enable ─▶ signing ─▶ waiting ── ledger, preflight ─▶ ds_wanted ── DS everywhere ─▶ secure ── roll ─▶ rolling ─▶ secure
//   off ◀─ unsigning ◀── 7 d without DS ── ds_removal ◀── disable ── waiting, ds_wanted, secure, rolling
//   any ── only DS of others at the parent ─▶ broken (shown, no step: what is served stays) ─▶ back
//
// None of these words is stored: `dnssec-status` reads them from what is served, asked for and seen. `goals` says what shall
// be, `advance` takes in what was seen, `next-keys` finds the one next step to it that the `ledger` allows.

import type { Ledger } from './ledger.ts';
import { isSep, type KeyId, type MachineKey } from './machine-key.ts';
import type { ParentMemory } from './parent-memory.ts';
import { type Serving, without } from './serving.ts';

/** The keys that a signed zone has in the end; the same id twice: a CSK. */
export interface WantedKeys {
  readonly sep: KeyId;
  readonly data: KeyId;
}

/** What was verified at the addresses of the domain's NS records, in the answers to DNSKEY, SOA, a random name and `*`. */
export interface Preflight {
  readonly at: number;
  /** The keys with which every address's DNSKEY set verified, and the rest of its answers through that. */
  readonly verifiedBy: readonly KeyId[];
  /** An address shows DNSKEY that no key of the database matches. */
  readonly hasStrangers: boolean;
  /** In words for people; undefined if nothing was wrong. */
  readonly failure?: string;
}

/** Steps wait until the answers of an unknown time are out of caches. */
interface Hold {
  readonly cause: 'restore' | 'clock';
  /** Null until every node serves what Postgres holds. */
  readonly until: number | null;
}

/** Another operator signs the same zone with keys of its own, before the domain comes here or after it has left. */
interface ForeignKeys {
  /** Its keys that shall stand in our DNSKEY set. */
  readonly wanted: readonly KeyId[];
  /** The keys of ours that all its servers show; null: they were not seen. */
  readonly shows: ShownOurs | null;
  /** When the owner asked for an import that is still to be made. */
  readonly importAskedAt: number | null;
  readonly imported: LastImport | null;
}

interface LastImport {
  readonly at: number;
  readonly failure?: string;
  /** The owner has said since then which keys shall stand. */
  readonly isPast?: true;
}

export interface ShownOurs {
  readonly keys: readonly KeyId[];
  readonly since: number;
  /** The largest TTL of a DNSKEY set of theirs that was seen since, in seconds. */
  readonly ttl: number;
  /** True if they also show keys that are not in our DNSKEY set, or do not all show the same. */
  readonly hasOthers?: boolean;
}

export const NO_FOREIGN_KEYS: ForeignKeys = { wanted: [], shows: null, importAskedAt: null, imported: null };

export interface Machine {
  readonly format: 1;
  readonly goal: 'signed' | 'unsigned';
  /** A key is known to others, or the operator wants it now: stays and the age of backups are left out, the ledger never. */
  readonly urgent: boolean;
  readonly wanted: WantedKeys | null;
  /** What `abort` goes back to; null once the goal is reached. */
  readonly before: { readonly goal: 'signed' | 'unsigned'; readonly wanted: WantedKeys | null } | null;
  /** All keys whose private part exists, withdrawn ones too, and those of another operator. */
  readonly keys: readonly MachineKey[];
  /** As the last step wants it. */
  readonly serving: Serving;
  /** The zone version that has all of it; null while it is being written. */
  readonly version: number | null;
  /** Since when every node has it; null: not yet. */
  readonly servedAt: number | null;
  /** The keys whose DS is disclosed. */
  readonly asked: readonly KeyId[];
  /** When `asked` changed last; null: never. */
  readonly askedAt: number | null;
  /** Since when every node has the CDS set that says so: a stay begins then at the soonest. Null: one may have another set. */
  readonly toldAt: number | null;
  /** Keys whose DS may be at the parent or come there: asked for, or seen, and not gone for the stay. */
  readonly atLarge: readonly KeyId[];
  readonly ledger: Ledger;
  readonly parent: ParentMemory;
  readonly preflight: Preflight | null;
  /** Until when our answers may have been wrong: the last preflight that failed, or the first one after it; null: never. */
  readonly failedAt: number | null;
  readonly hold: Hold | null;
  /** Of the database's history, as the feed knows it; null before the first advance. */
  readonly epoch: string | null;
  /** The newest time that it was told. */
  readonly clock: number;
  readonly waiting: Waiting | null;
  /** Absent: there never were any. */
  readonly foreign?: ForeignKeys;
}

export type WaitCause =
  /** The step is being written. */
  | 'writing'
  /** A node lacks it. */
  | 'nodes'
  | 'restore'
  | 'clock'
  /** Nodes show keys that the database does not know. */
  | 'strangers'
  /** Caches, or backups, may hold what does not go with the step. */
  | 'caches'
  /** Servers of others are asked for the domain, or may be. */
  | 'delegation'
  /** Servers of another operator, which signs too, do not show our keys, or not for long enough. */
  | 'foreign'
  | 'preflight'
  /** The registrar: a DS must come, or go. */
  | 'ds_wanted'
  | 'ds_unwanted'
  /** The DS are gone, and may come back. */
  | 'stay'
  /** What the parent shows was not seen lately. */
  | 'observation';

export interface Waiting {
  readonly cause: WaitCause;
  readonly since: number;
  /** When it ends if nothing comes between; absent: that depends on others. */
  readonly until?: number;
  /** The keys that it is about. */
  readonly keys: readonly KeyId[];
}

export function keyOf({ keys }: Pick<Machine, 'keys'>, id: KeyId): MachineKey {
  const key = keys.find((each) => each.id === id);
  if (key === undefined) throw new Error(`the machine has no key ${id}`);
  return key;
}

export function wantedIds({ wanted }: Pick<Machine, 'wanted'>): readonly KeyId[] {
  return wanted === null ? [] : [...new Set([wanted.sep, wanted.data])].sort();
}

export function ownKeys({ keys }: Pick<Machine, 'keys'>): readonly MachineKey[] {
  return keys.filter(({ isForeign }) => isForeign !== true);
}

export function foreignKeys({ keys }: Pick<Machine, 'keys'>): readonly MachineKey[] {
  return keys.filter(({ isForeign }) => isForeign === true);
}

/** The keys in our DNSKEY set with which another operator may sign the same zone. */
export function sharedKeys({ keys, serving }: Pick<Machine, 'keys' | 'serving'>): readonly MachineKey[] {
  return keys.filter(({ id, shared }) => shared !== undefined && serving.keys.includes(id));
}

/** Those of the keys that are not another operator's. */
export function ownIds(machine: Pick<Machine, 'keys'>, ids: readonly KeyId[]): readonly KeyId[] {
  return without(
    ids,
    foreignKeys(machine).map(({ id }) => id),
  );
}

/** Those of them that are in the list, or have been and still stand in the zone. */
export function listedForeign(machine: Pick<Machine, 'keys' | 'serving' | 'foreign'>): readonly KeyId[] {
  const { serving, foreign } = machine;
  return foreignKeys(machine)
    .map(({ id }) => id)
    .filter((id) => serving.keys.includes(id) || foreign?.wanted.includes(id));
}

/** All that the DNSKEY set has in the end. */
export function publishedIds(machine: Pick<Machine, 'wanted' | 'foreign'>): readonly KeyId[] {
  return [...new Set([...wantedIds(machine), ...(machine.foreign?.wanted ?? [])])].sort();
}

/** The keys whose DS the parent has in the end: a parent that reads CDS keeps no other (RFC 7344 §4.1). */
export function askedIds(machine: Pick<Machine, 'wanted' | 'foreign' | 'keys'>): readonly KeyId[] {
  const { wanted, foreign } = machine;
  const theirs = (foreign?.wanted ?? []).filter((id) => isSep(keyOf(machine, id)));
  return wanted === null ? [] : [...new Set([wanted.sep, ...theirs])].sort();
}

/** The keys of ours in the DNSKEY set that may have a DS. */
export function sepKeys(machine: Pick<Machine, 'keys' | 'serving'>): readonly KeyId[] {
  return ownKeys(machine)
    .filter((key) => isSep(key) && machine.serving.keys.includes(key.id))
    .map(({ id }) => id);
}
