// Loads all that is stored of how a domain is signed: its row, its key machine, and every key that it ever had.

import { type RawBuilder, sql } from 'kysely';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { type DnssecKey, loadKeys } from '../keys/load-keys.ts';
import {
  decodeSignedZone,
  SIGNED_ZONE_JSON,
  type SignedZone,
  type SignedZoneJson,
} from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';

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
