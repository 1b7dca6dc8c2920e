// Loads every key that a zone ever had.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { KeyRole, KeySigns } from '../postgres/tables/schema.ts';
import { dnskeyOf } from './signed-zone.ts';

export interface DnssecKey {
  readonly id: number;
  readonly role: KeyRole;
  readonly algorithm: number;
  readonly flags: number;
  readonly tag: number;
  /** Rdata of the DNSKEY record. */
  readonly dnskey: Uint8Array;
  readonly origin: 'ours' | 'foreign';
  readonly signs: KeySigns;
  /** False if the private part was destroyed, or is another operator's. */
  readonly isUsable: boolean;
  readonly madeAt: Date;
  readonly publishedAt: Date | null;
  readonly retiredAt: Date | null;
}

interface KeyRow extends Omit<DnssecKey, 'dnskey'> {
  readonly publicKey: Buffer;
}

export async function loadKeys(db: Database, signedZoneId: number): Promise<DnssecKey[]> {
  const { rows } = await sql<KeyRow>`
    select id, role, algorithm, flags, key_tag as tag, public_key as "publicKey", origin, signs,
      sealed is not null as "isUsable", made_at as "madeAt", published_at as "publishedAt",
      retired_at as "retiredAt"
    from signing_keys where signed_zone_id = ${signedZoneId} order by id`.execute(db);
  return rows.map(({ publicKey, ...key }) => ({
    ...key,
    dnskey: dnskeyOf(key.flags, key.algorithm, publicKey),
  }));
}
