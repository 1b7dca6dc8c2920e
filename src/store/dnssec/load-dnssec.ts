// Loads all that is stored of how a domain is signed: its row, its key machine, and every key that it ever had.

import { type RawBuilder, sql } from 'kysely';
import type { Machine } from '../../checks/dnssec/machine.ts';
import {
  decodeSignedZone,
  dnskeyOf,
  SIGNED_ZONE_JSON,
  type SignedZone,
  type SignedZoneJson,
} from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import type { KeyRole, KeySigns } from '../postgres/tables/signing-tables.ts';

export interface StoredDnssec {
  /** With the keys that are published, or sign. */
  readonly signed: SignedZone;
  /** Null: signed by an operator, without a machine. */
  readonly machine: Machine | null;
  /** All that ever were, in the order in which they were made. */
  readonly keys: readonly DnssecKey[];
  /** When the first signature ends; null: there is none of ours. */
  readonly expiresAt: Date | null;
  readonly resignAt: Date | null;
  /** When the machine is looked at next; null: it rests for good. */
  readonly dueAt: Date | null;
}

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
  /** False: the private part was destroyed, or is another operator's. */
  readonly isUsable: boolean;
  readonly madeAt: Date;
  readonly publishedAt: Date | null;
  readonly retiredAt: Date | null;
}

/** Undefined: the domain was never signed. */
export async function loadDnssec(db: Database, domainId: number): Promise<StoredDnssec | undefined> {
  return await loadOne(db, sql`s.domain_id = ${domainId}`);
}

export async function loadDnssecOf(db: Database, signedZoneId: number): Promise<StoredDnssec | undefined> {
  return await loadOne(db, sql`s.id = ${signedZoneId}`);
}

interface StoredRow extends Omit<StoredDnssec, 'signed' | 'keys'> {
  readonly signedJson: SignedZoneJson;
}

async function loadOne(db: Database, condition: RawBuilder<unknown>): Promise<StoredDnssec | undefined> {
  const { rows } = await sql<StoredRow>`
    select ${SIGNED_ZONE_JSON} as "signedJson", s.machine, s.expires_at as "expiresAt", s.resign_at as "resignAt",
      s.due_at as "dueAt"
    from signed_zones s where ${condition}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { signedJson, ...rest } = row;
  const signed = decodeSignedZone(signedJson);
  return { ...rest, signed, keys: await loadKeys(db, signed.id) };
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
