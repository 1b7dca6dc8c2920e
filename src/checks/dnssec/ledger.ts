// Tracks what caches may still hold: versions of the DS set at the parent, of our DNSKEY set, and of the signers of our
// data. A resolver may combine any of these, so a step is safe if every such triple validates. All waits of RFC 7583 and
// RFC 6781 §4 follow from this rule.

import type { KeyId, MachineKey } from './machine-key.ts';
import type { MachineRules } from './rules.ts';

/** A DS set shown by an address of the parent, if it contains any of our keys. Other sets do not matter. */
export interface DsVersion {
  /** Our keys with a DS in the set. */
  readonly ds: readonly KeyId[];
  /** When it was last shown or may have been shown. */
  readonly lastAt: number;
  /** The largest observed TTL, in seconds. */
  readonly ttl: number;
}

interface ServedVersion {
  /** When a node last served it or may have served it. Used only after it has ended. */
  readonly lastAt: number;
  /** Largest TTL while it was current, including negative answers, in seconds. */
  readonly ttl: number;
  /** The zone version that replaces it. Null while it is current or its successor is being written. */
  readonly until: number | null;
  /** True if every node has the version that replaces it. */
  readonly isEnded: boolean;
  /** True if another operator's servers answer with it. It ends when no resolver queries these servers any longer. */
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

/** A DS set, a DNSKEY set and data that one cache may hold together. `ds` contains only DS of our keys. */
export interface Triple {
  readonly ds: readonly KeyId[];
  readonly keys: readonly KeyId[];
  readonly keySigners: readonly KeyId[];
  readonly dataSigners: readonly KeyId[];
}

/** Possible cache contents of each kind. The triples are all combinations. */
export interface Seeable {
  readonly ds: readonly (readonly KeyId[])[];
  readonly keySets: readonly Pick<KeySetVersion, 'keys' | 'signers'>[];
  readonly data: readonly Pick<DataVersion, 'signers'>[];
}

type Waits = Pick<MachineRules, 'nodeSlackMs' | 'parentSlackMs' | 'backupAfterMs'>;

/**
 * Returns what may be seen at a given time. `shown`: our keys in each DS set that the parent shows now. These count
 * regardless of the ledger.
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

/** True if every triple validates. */
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
 * True if the strictest resolver accepts the triple. A DS set without our keys is accepted: it is the registrar's concern,
 * and an empty set makes the zone insecure.
 */
export function validates(triple: Triple, algorithmOf: (id: KeyId) => number): boolean {
  const { ds, keys } = triple;
  if (ds.length === 0) return true;
  const keySigners = triple.keySigners.filter((id) => keys.includes(id));
  const dataSigners = triple.dataSigners.filter((id) => keys.includes(id));
  // RFC 4035 §5.2: a DS matches a key of the set, and that key has signed the set
  if (!ds.some((id) => keySigners.includes(id))) return false;
  if (dataSigners.length === 0) return false; // RFC 4035 §5.3.1
  // RFC 4035 §2.2, for resolvers that enforce it despite RFC 6840 §5.11: each algorithm of the DS set signs the DNSKEY set,
  // and each algorithm of the DNSKEY set signs everything
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

/** Each key that no longer exists counts as a different algorithm. */
function algorithmsOf(keys: readonly MachineKey[]): (id: KeyId) => number {
  const known = new Map(keys.map(({ id, algorithm }) => [id, algorithm]));
  return (id) => known.get(id) ?? -1;
}

/** Returns when the last cache has dropped it. */
export function dsGoneAt({ lastAt, ttl }: DsVersion, { parentSlackMs }: Waits): number {
  return lastAt + ttl * 1000 + parentSlackMs;
}

/**
 * Returns when the last cache and the last usable backup have dropped it. A restored database serves its old contents, so
 * they must be compatible with everything served within the age of a backup.
 */
export function servedGoneAt(
  { lastAt, ttl, isEnded }: Pick<ServedVersion, 'lastAt' | 'ttl' | 'isEnded'>,
  { nodeSlackMs, backupAfterMs }: Waits,
): number {
  if (!isEnded) return Number.POSITIVE_INFINITY;
  return lastAt + Math.max(ttl * 1000, backupAfterMs) + nodeSlackMs;
}
