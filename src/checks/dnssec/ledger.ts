// What caches may still hold: versions of the DS set at the parent, of our DNSKEY set, and of whose signatures our data has.
// A resolver may hold any of each together, so a step is safe if every such triple validates. All waits of RFC 7583 and
// RFC 6781 §4 fall out of this.

import type { KeyId, MachineKey } from './machine-key.ts';
import type { MachineRules } from './rules.ts';

/** A DS set as an address of the parent showed it, if it has any of ours: others judge nothing. */
export interface DsVersion {
  /** The keys of ours whose DS are in it. */
  readonly ds: readonly KeyId[];
  /** When it was last shown, or may have been. */
  readonly lastAt: number;
  /** The largest TTL that was seen with it, in seconds. */
  readonly ttl: number;
}

interface ServedVersion {
  /** When a node last served it, or may have; counts only when it has ended. */
  readonly lastAt: number;
  /** The largest TTL while it was in force, negative answers included, in seconds. */
  readonly ttl: number;
  /** The zone version that replaces it: null while it is in force or its successor is being written. */
  readonly until: number | null;
  /** Every node has the version that replaces it. */
  readonly isEnded: boolean;
  /** True if servers of another operator answer with it. It ends when no resolver queries these any longer. */
  readonly isTheirs?: true;
}

export interface KeySetVersion extends ServedVersion {
  readonly keys: readonly KeyId[];
  readonly signers: readonly KeyId[];
}

export interface DataVersion extends ServedVersion {
  readonly signers: readonly KeyId[];
}

export interface Ledger {
  readonly ds: readonly DsVersion[];
  readonly keySets: readonly KeySetVersion[];
  readonly data: readonly DataVersion[];
}

/** A DS set, a DNSKEY set and data that one cache may hold together. DS that are not ours are left out of `ds`. */
export interface Triple {
  readonly ds: readonly KeyId[];
  readonly keys: readonly KeyId[];
  readonly keySigners: readonly KeyId[];
  readonly dataSigners: readonly KeyId[];
}

/** What a cache may hold of each: the triples are all combinations. */
export interface Seeable {
  readonly ds: readonly (readonly KeyId[])[];
  readonly keySets: readonly Pick<KeySetVersion, 'keys' | 'signers'>[];
  readonly data: readonly Pick<DataVersion, 'signers'>[];
}

type Waits = Pick<MachineRules, 'nodeSlackMs' | 'parentSlackMs' | 'backupAfterMs'>;

/**
 * What may be seen at a time. `shown`: our keys in each DS set that the parent shows now, which are seen whatever the ledger
 * says.
 */
export function maySee(
  ledger: Ledger,
  shown: readonly (readonly KeyId[])[],
  at: number,
  rules: Waits,
): Seeable {
  const past = ledger.ds.filter((version) => at <= dsGoneAt(version, rules));
  return {
    ds: [...past.map(({ ds }) => ds), ...shown],
    keySets: ledger.keySets.filter((version) => at <= servedGoneAt(version, rules)),
    data: ledger.data.filter((version) => at <= servedGoneAt(version, rules)),
  };
}

/** Whether every triple validates. */
export function allValidate({ ds, keySets, data }: Seeable, keys: readonly MachineKey[]): boolean {
  const algorithms = algorithmsOf(keys);
  return ds.every((ours) =>
    keySets.every(({ keys, signers: keySigners }) =>
      data.every(({ signers }) =>
        validates({ ds: ours, keys, keySigners, dataSigners: signers }, algorithms),
      ),
    ),
  );
}

/**
 * Whether the strictest resolver accepts the triple. A DS set without ours is not judged: it is the registrar's, and an empty
 * one leaves the zone insecure.
 */
export function validates(triple: Triple, algorithmOf: (id: KeyId) => number): boolean {
  const { ds, keys } = triple;
  if (ds.length === 0) return true;
  const keySigners = triple.keySigners.filter((id) => keys.includes(id));
  const dataSigners = triple.dataSigners.filter((id) => keys.includes(id));
  // RFC 4035 §5.2: a DS leads to a key of the set, and that key has signed the set
  if (!ds.some((id) => keySigners.includes(id))) return false;
  if (dataSigners.length === 0) return false; // RFC 4035 §5.3.1
  // RFC 4035 §2.2, for resolvers that insist despite RFC 6840 §5.11: each algorithm of the DS set signs the DNSKEY set, each
  // of the DNSKEY set signs everything
  return (
    covers(keySigners, ds, algorithmOf) &&
    covers(keySigners, keys, algorithmOf) &&
    covers(dataSigners, keys, algorithmOf)
  );
}

function covers(
  signers: readonly KeyId[],
  wanted: readonly KeyId[],
  algorithmOf: (id: KeyId) => number,
): boolean {
  return wanted.every((id) => signers.some((signer) => algorithmOf(signer) === algorithmOf(id)));
}

/** Keys that no longer exist have an algorithm of their own. */
function algorithmsOf(keys: readonly MachineKey[]): (id: KeyId) => number {
  const known = new Map(keys.map(({ id, algorithm }) => [id, algorithm]));
  return (id) => known.get(id) ?? -1;
}

/** When no cache holds it any more. */
export function dsGoneAt({ lastAt, ttl }: DsVersion, { parentSlackMs }: Waits): number {
  return lastAt + ttl * 1000 + parentSlackMs;
}

/**
 * When no cache holds it any more, and no backup: a restored database serves what it held, so that is compatible with
 * everything that was served within the age of a backup.
 */
export function servedGoneAt(
  { lastAt, ttl, isEnded }: Pick<ServedVersion, 'lastAt' | 'ttl' | 'isEnded'>,
  { nodeSlackMs, backupAfterMs }: Waits,
): number {
  if (!isEnded) return Number.POSITIVE_INFINITY;
  return lastAt + Math.max(ttl * 1000, backupAfterMs) + nodeSlackMs;
}
