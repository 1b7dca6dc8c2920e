// State of a domain's key machine: plain JSON, stored unchanged. All times are milliseconds since 1970 by the clock of
// Postgres.
//
//   off ── enable ─▶ signing ─▶ waiting ── ledger, preflight ─▶ ds_wanted ── DS everywhere ─▶ secure ── roll ─▶ rolling ─▶ secure
//   off ◀─ unsigning ◀── 7 d without DS ── ds_removal ◀── disable ── waiting, ds_wanted, secure, rolling
//   any ── only DS of others at the parent ─▶ broken (shown, no step: what is served stays) ─▶ back
//
// These states are not stored: `dnssec-status` derives them from what is served, requested and seen. `goals` sets the
// desired state, `advance` records observations, and `next-keys` finds the next step towards the goal that the `ledger`
// allows.

import type { Ledger } from './ledger.ts';
import { isSep, type KeyId, type MachineKey } from './machine-key.ts';
import type { ParentMemory } from './parent-memory.ts';
import { type Serving, without } from './serving.ts';

/** The keys of a signed zone once the goal is reached. The same id twice means a CSK. */
export interface WantedKeys {
  readonly sep: KeyId;
  readonly data: KeyId;
}

/** Result of verifying the answers for DNSKEY, SOA, a random name and `*` at the addresses of the domain's NS records. */
export interface Preflight {
  readonly at: number;
  /** Keys with which every address's DNSKEY set verified, and its other answers through that set. */
  readonly verifiedBy: readonly KeyId[];
  /** True if an address shows a DNSKEY that matches no key of the database. */
  readonly hasStrangers: boolean;
  /** Human-readable reason. Undefined if verification succeeded. */
  readonly failure?: string;
}

/** Delays steps until answers from an unknown period have left all caches. */
interface Hold {
  readonly cause: 'restore' | 'clock';
  /** Null until every node serves the current contents of Postgres. */
  readonly until: number | null;
}

/** Another operator signs the same zone with its own keys, before the domain moves here or after it has left. */
interface ForeignKeys {
  /** Its keys that our DNSKEY set must contain. */
  readonly wanted: readonly KeyId[];
  /** Our keys that all its servers show. Null if they were not queried successfully. */
  readonly shows: ShownOurs | null;
  /** When the owner requested an import that is still pending. */
  readonly importAskedAt: number | null;
  readonly imported: LastImport | null;
}

interface LastImport {
  readonly at: number;
  readonly failure?: string;
  /** The owner has provided a list of keys since then. */
  readonly isPast?: true;
}

export interface ShownOurs {
  readonly keys: readonly KeyId[];
  readonly since: number;
  /** Largest observed TTL of their DNSKEY set since then, in seconds. */
  readonly ttl: number;
  /** True if they also show keys that are not in our DNSKEY set, or if their sets differ. */
  readonly hasOthers?: boolean;
}

export const NO_FOREIGN_KEYS: ForeignKeys = { wanted: [], shows: null, importAskedAt: null, imported: null };

export interface Machine {
  readonly format: 1;
  readonly goal: 'signed' | 'unsigned';
  /**
   * True if a key was compromised or the operator demands the change now. Skips stays and the age of backups, but never the
   * ledger.
   */
  readonly urgent: boolean;
  readonly wanted: WantedKeys | null;
  /** State that `abort` restores. Null once the goal is reached. */
  readonly before: { readonly goal: 'signed' | 'unsigned'; readonly wanted: WantedKeys | null } | null;
  /** All keys with an existing private part, including withdrawn ones, and the keys of another operator. */
  readonly keys: readonly MachineKey[];
  /** Contents that the last step requires. */
  readonly serving: Serving;
  /** The zone version that contains all of it. Null while it is being written. */
  readonly version: number | null;
  /** When the last node received it. Null if not all nodes have it. */
  readonly servedAt: number | null;
  /** Keys whose DS is published. */
  readonly asked: readonly KeyId[];
  /** When `asked` last changed. Null if it never changed. */
  readonly askedAt: number | null;
  /**
   * When the last node received the matching CDS set, which is the earliest start of a stay. Null if a node may have
   * another set.
   */
  readonly toldAt: number | null;
  /** Keys whose DS is or may appear at the parent: it was requested, or was seen and has not been absent for a whole stay. */
  readonly atLarge: readonly KeyId[];
  readonly ledger: Ledger;
  readonly parent: ParentMemory;
  readonly preflight: Preflight | null;
  /**
   * Latest time at which our answers may have been wrong: the last failed preflight or the first one after it. Null if
   * never.
   */
  readonly failedAt: number | null;
  readonly hold: Hold | null;
  /** Identifies the history of the database, as in the feed. Null before the first advance. */
  readonly epoch: string | null;
  /** The latest time passed to the machine. */
  readonly clock: number;
  readonly waiting: Waiting | null;
  /** Absent if there were never any. */
  readonly foreign?: ForeignKeys;
}

export type WaitCause =
  /** The step is being written. */
  | 'writing'
  /** A node does not have it yet. */
  | 'nodes'
  | 'restore'
  | 'clock'
  /** Nodes show keys that the database does not contain. */
  | 'strangers'
  /** Caches or backups may hold data that conflicts with the step. */
  | 'caches'
  /** Resolvers may query other operators' servers for the domain. */
  | 'delegation'
  /** Another operator's servers, which also sign the zone, have not shown our keys, or not for long enough. */
  | 'foreign'
  | 'preflight'
  /** The registrar must add or remove a DS. */
  | 'ds_wanted'
  | 'ds_unwanted'
  /** The DS records were removed but may return. */
  | 'stay'
  /** The parent was not observed recently. */
  | 'observation';

export interface Waiting {
  readonly cause: WaitCause;
  readonly since: number;
  /** When it ends if nothing intervenes. Absent if that depends on others. */
  readonly until?: number;
  /** Keys concerned. */
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

/** Returns the keys in our DNSKEY set with which another operator may sign the same zone. */
export function sharedKeys({ keys, serving }: Pick<Machine, 'keys' | 'serving'>): readonly MachineKey[] {
  return keys.filter(({ id, shared }) => shared !== undefined && serving.keys.includes(id));
}

/** Returns the keys that are not another operator's. */
export function ownIds(machine: Pick<Machine, 'keys'>, ids: readonly KeyId[]): readonly KeyId[] {
  return without(
    ids,
    foreignKeys(machine).map(({ id }) => id),
  );
}

/** Returns the other operator's keys that are listed, or were listed and are still in the zone. */
export function listedForeign(machine: Pick<Machine, 'keys' | 'serving' | 'foreign'>): readonly KeyId[] {
  const { serving, foreign } = machine;
  return foreignKeys(machine)
    .map(({ id }) => id)
    .filter((id) => serving.keys.includes(id) || foreign?.wanted.includes(id));
}

/** Returns the keys of the DNSKEY set once the goal is reached. */
export function publishedIds(machine: Pick<Machine, 'wanted' | 'foreign'>): readonly KeyId[] {
  return [...new Set([...wantedIds(machine), ...(machine.foreign?.wanted ?? [])])].sort();
}

/**
 * Returns the keys with a DS at the parent once the goal is reached. A parent that reads CDS keeps no other DS (RFC 7344
 * §4.1).
 */
export function askedIds(machine: Pick<Machine, 'wanted' | 'foreign' | 'keys'>): readonly KeyId[] {
  const { wanted, foreign } = machine;
  const theirs = (foreign?.wanted ?? []).filter((id) => isSep(keyOf(machine, id)));
  return wanted === null ? [] : [...new Set([wanted.sep, ...theirs])].sort();
}

/** Returns our keys in the DNSKEY set that may have a DS. */
export function sepKeys(machine: Pick<Machine, 'keys' | 'serving'>): readonly KeyId[] {
  return ownKeys(machine)
    .filter((key) => isSep(key) && machine.serving.keys.includes(key.id))
    .map(({ id }) => id);
}
