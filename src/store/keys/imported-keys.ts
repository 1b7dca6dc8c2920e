// Stores imported keys, and finds those that a zone already has.

import { sql } from 'kysely';
import type { ImportedKey } from '../../zone/signing/private-key.ts';
import { KEY_FLAGS } from '../../zone/signing/signing-key.ts';
import type { Database } from '../postgres/database.ts';
import { storeZoneKey } from './key-store.ts';
import type { DnssecKey } from './load-keys.ts';

interface KnownKey {
  readonly tag: number;
  readonly dnskey: Uint8Array;
  readonly origin: 'ours' | 'foreign';
  /** True if its private part is stored. */
  readonly isUsable: boolean;
}

/** Returns a message that names a key that the zone already has. Returns undefined if it has none of them. */
export function findKnownKey(
  known: readonly KnownKey[],
  imported: readonly ImportedKey[] = [],
): string | undefined {
  const key = known.find((each) => each.isUsable && imported.some((one) => isSameKey(one, each)));
  return key && `the zone has the key with tag ${key.tag} already: enabling DNSSEC uses it again`;
}

export function isSameKey(a: Pick<KnownKey, 'dnskey'>, b: Pick<KnownKey, 'dnskey'>): boolean {
  return Buffer.compare(a.dnskey, b.dnskey) === 0;
}

/**
 * Seals and stores the keys. If there is only one, it signs everything. A key that is in `known` with its private part keeps its
 * row, with the role that it has now. Returns their ids.
 */
export async function storeImported(
  trx: Database,
  signedZoneId: number,
  keys: readonly ImportedKey[],
  { isSigning, known = [] }: { readonly isSigning: boolean; readonly known?: readonly DnssecKey[] },
): Promise<number[]> {
  const ids: number[] = [];
  for (const key of keys) {
    const isEntry = key.flags === KEY_FLAGS.ENTRY;
    const use = !isEntry
      ? ({ role: 'zsk', signs: 'data' } as const)
      : keys.length > 1
        ? ({ role: 'ksk', signs: 'keys' } as const)
        : ({ role: 'csk', signs: 'both' } as const);
    const row = known.find((each) => each.isUsable && isSameKey(each, key));
    if (row === undefined) {
      ids.push(await storeZoneKey(trx, signedZoneId, key, isSigning ? use : { ...use, signs: 'none' }));
      continue;
    }
    await sql`update signing_keys set role = ${use.role} where id = ${row.id}`.execute(trx);
    ids.push(row.id);
  }
  return ids;
}
