// Classifies the DS records at the parent: for keys of ours, wanted or not, and for unknown keys.

import { dsFields } from '../ds-evidence.ts';
import { type Machine, ownKeys, wantedIds } from '../machine.ts';
import type { KeyId, MachineKey } from '../machine-key.ts';
import { isEverywhere, shownNow } from '../parent-memory.ts';
import type { MachineRules } from '../rules.ts';

type DsMeaning =
  /** Its key is wanted. */
  | 'wanted'
  /** Its key is ours, but is being withdrawn or was never requested. */
  | 'unwanted'
  /** Its key belongs to another operator and is in our DNSKEY set. */
  | 'foreign'
  /** It has the tag and algorithm of one of our keys, but another digest. */
  | 'mistyped'
  /** It matches no key of ours. */
  | 'other';

export interface ShownRecord {
  /** In the format of `dsText`. */
  readonly text: string;
  readonly meaning: DsMeaning;
  readonly keyId?: KeyId;
  /** Number of addresses that show it. */
  readonly addresses: number;
  /** True if the digest is SHA-1, which resolvers must not trust alone (RFC 9904). */
  readonly isWeak: boolean;
}

export interface ParentView {
  readonly records: readonly ShownRecord[];
  /** Number of addresses that answered. */
  readonly addresses: number;
  /** Number of them that show the most frequent set. */
  readonly agreeing: number;
  /** Largest observed TTL, in seconds. */
  readonly ttl: number | undefined;
  /** Keys whose DS every address has shown for long enough. */
  readonly everywhere: readonly KeyId[];
}

const SHA1 = 1;

export function viewParent(machine: Machine, rules: MachineRules): ParentView {
  const sets = shownNow(machine.parent, rules);
  const counts = new Map<string, number>();
  const bySet = new Map<string, number>();
  for (const { ds } of sets) {
    for (const text of ds) counts.set(text, (counts.get(text) ?? 0) + 1);
    const key = ds.join('\n');
    bySet.set(key, (bySet.get(key) ?? 0) + 1);
  }
  return {
    records: [...counts].map(([text, addresses]) => ({ ...meaningOf(text, machine), text, addresses })),
    addresses: sets.length,
    agreeing: Math.max(0, ...bySet.values()),
    ttl: sets.length === 0 ? undefined : Math.max(...sets.map(({ ttl }) => ttl)),
    everywhere: machine.keys.map(({ id }) => id).filter((id) => isEverywhere(machine.parent, id, rules)),
  };
}

function meaningOf(text: string, machine: Machine): Pick<ShownRecord, 'meaning' | 'keyId' | 'isWeak'> {
  const { keyTag, algorithm, digestType } = dsFields(text);
  const isWeak = digestType === SHA1;
  const owner = machine.keys.find(({ ds }) => ds.includes(text));
  if (owner !== undefined) return { meaning: meaningOfKey(owner, machine), keyId: owner.id, isWeak };
  const alike = ownKeys(machine).find((key) => key.keyTag === keyTag && key.algorithm === algorithm);
  return alike === undefined
    ? { meaning: 'other', isWeak }
    : { meaning: 'mistyped', keyId: alike.id, isWeak };
}

function meaningOfKey({ id, isForeign }: MachineKey, machine: Machine): DsMeaning {
  if (isForeign === true) return machine.serving.keys.includes(id) ? 'foreign' : 'other';
  return machine.goal === 'signed' && wantedIds(machine).includes(id) ? 'wanted' : 'unwanted';
}

/** Returns the DS of a key with this digest type. Returns undefined for a ZSK. */
export function dsOfKey(key: MachineKey, digestType: number): string | undefined {
  return key.ds.find((text) => dsFields(text).digestType === digestType);
}
