// All past and present keys of a zone: loads them, stores imported ones, and creates those that a goal requires.

import { type RawBuilder, sql } from 'kysely';
import { dsText } from '../../checks/dnssec/ds-evidence.ts';
import type { Machine } from '../../checks/dnssec/machine.ts';
import type { MachineKey } from '../../checks/dnssec/machine-key.ts';
import { DIGEST } from '../../dns/dnssec/ds-digest.ts';
import type { Name } from '../../dns/name.ts';
import type { ImportedKey } from '../../zone/signing/private-key.ts';
import { KEY_FLAGS, type SigningAlgorithm } from '../../zone/signing/signing-key.ts';
import type { Database } from '../postgres/database.ts';
import type { KeyRole, KeySigns } from '../postgres/tables/schema.ts';
import { makeZoneKey, storeZoneKey } from './key-store.ts';
import { dnskeyOf, dsOf } from './signed-zone.ts';

export interface DnssecKey {
  readonly id: number;
  readonly role: KeyRole;
  readonly algorithm: number;
  readonly flags: number;
  readonly tag: number;
  readonly dnskey: Uint8Array;
  readonly origin: 'ours' | 'foreign';
  readonly signs: KeySigns;
  /** False if the private part was destroyed, or is another operator's. */
  readonly isUsable: boolean;
  readonly madeAt: Date;
  readonly publishedAt: Date | null;
  readonly retiredAt: Date | null;
}

type KeyTime = 'madeAt' | 'publishedAt' | 'retiredAt';

export interface KeyJson extends Omit<DnssecKey, 'dnskey' | KeyTime> {
  readonly publicKey: string;
  readonly madeAt: string;
  readonly publishedAt: string | null;
  readonly retiredAt: string | null;
}

/** Selects all past and present keys of a zone as JSON for `decodeKeys`. */
export function keysJson(signedZoneId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'role', k.role, 'algorithm', k.algorithm, 'flags', k.flags,
      'tag', k.key_tag, 'publicKey', encode(k.public_key, 'base64'), 'origin', k.origin, 'signs', k.signs,
      'isUsable', k.sealed is not null, 'madeAt', k.made_at, 'publishedAt', k.published_at,
      'retiredAt', k.retired_at) order by k.id), '[]')
    from signing_keys k where k.signed_zone_id = ${signedZoneId})`;
}

export function decodeKeys(keys: readonly KeyJson[]): DnssecKey[] {
  return keys.map(({ publicKey, madeAt, publishedAt, retiredAt, ...key }) => ({
    ...key,
    dnskey: dnskeyOf(key.flags, key.algorithm, Buffer.from(publicKey, 'base64')),
    madeAt: new Date(madeAt),
    publishedAt: publishedAt === null ? null : new Date(publishedAt),
    retiredAt: retiredAt === null ? null : new Date(retiredAt),
  }));
}

/** Loads all past and present keys of a zone. */
export async function loadKeys(db: Database, signedZoneId: number): Promise<DnssecKey[]> {
  const { rows } = await sql<{ keys: KeyJson[] }>`select ${keysJson(sql`${signedZoneId}`)} as keys`.execute(
    db,
  );
  return decodeKeys(rows[0]?.keys ?? []);
}

interface KnownKey {
  readonly tag: number;
  readonly dnskey: Uint8Array;
  readonly origin: 'ours' | 'foreign';
  /** True if its private part is stored. */
  readonly isUsable: boolean;
}

/** Returns a message that names a key that the zone already has, or undefined if it has none of them. */
export function findKnownKey(
  known: readonly KnownKey[],
  imported: readonly ImportedKey[] = [],
): string | undefined {
  const key = known.find((each) => each.isUsable && imported.some((one) => isSameKey(one, each)));
  return key && `the zone already has the key with tag ${key.tag}: enabling DNSSEC uses it again`;
}

export function isSameKey(a: Pick<KnownKey, 'dnskey'>, b: Pick<KnownKey, 'dnskey'>): boolean {
  return Buffer.compare(a.dnskey, b.dnskey) === 0;
}

/**
 * Seals and stores the keys. A single key signs everything. A key in `known` with its private part keeps its row and
 * its present role. Returns their ids.
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

/** Every digest type in which a DS record of the fleet's keys may appear. */
const DIGESTS = [DIGEST.SHA1, DIGEST.SHA256, DIGEST.SHA384] as const;

interface MakeOrder {
  readonly signedZoneId: number;
  readonly apex: Name;
  readonly algorithm: SigningAlgorithm;
  readonly split: boolean;
  /** The key of a split pair to create. Undefined for both. */
  readonly only?: KeyRole | undefined;
  /** All past and present keys of the zone. */
  readonly known: readonly Pick<DnssecKey, 'tag'>[];
}

/**
 * Creates the keys in the transaction of the goal. A later step publishes them and signs with them. Their tags differ
 * from those of all earlier keys and of the parent's DS set. Throws DnssecUnavailable.
 */
export async function makeMachineKeys(
  trx: Database,
  machine: Machine,
  { signedZoneId, apex, algorithm, split, only, known }: MakeOrder,
): Promise<MachineKey[]> {
  const tags = new Set([...known.map(({ tag }) => tag), ...tagsShown(machine)]);
  const keys: MachineKey[] = [];
  const roles = split ? (['ksk', 'zsk'] as const) : (['csk'] as const);
  for (const role of roles.filter((one) => only === undefined || one === only)) {
    const made = await makeZoneKey(trx, signedZoneId, { algorithm, role, signs: 'none' }, tags);
    tags.add(made.tag);
    keys.push(machineKey(apex, { ...made, role, origin: 'ours' }));
  }
  return keys;
}

export function machineKey(
  apex: Name,
  key: Pick<DnssecKey, 'id' | 'role' | 'algorithm' | 'tag' | 'dnskey' | 'origin'>,
): MachineKey {
  const { id, role, algorithm, tag } = key;
  const ds = role === 'zsk' ? [] : DIGESTS.map((digest) => dsText(dsOf(apex, key, digest)));
  const made = { id: String(id), role, algorithm, keyTag: tag, ds };
  return key.origin === 'foreign' ? { ...made, isForeign: true } : made;
}

function tagsShown({ parent }: Machine): number[] {
  const shown = Object.values(parent.addresses).flatMap((address) => address.shown?.ds ?? []);
  return shown.map((text) => Number.parseInt(text, 10));
}
