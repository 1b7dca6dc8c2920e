// The lock under which the signing of a zone changes: that of its domain, or of the operator zone's row.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { type DomainLock, lockDomain } from '../change/lock-domain.ts';
import { loadSignedZones, type SignedZone } from '../keys/signed-zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { type LockedZone, lockZones } from '../zones/write-zone.ts';

/** Whose zone it is: a domain's, or an operator's by its name as stored. */
export type Subject = { readonly domainId: number } | { readonly zoneName: string };

export interface LockedSubject {
  readonly subject: Subject;
  readonly apex: Name;
  /** Undefined for a domain that has no zone; also a deleted one. */
  readonly zone: LockedZone | undefined;
  /** Undefined: it was never signed. */
  readonly signed: SignedZone | undefined;
  /** Undefined for an operator zone. */
  readonly domain: DomainLock | undefined;
  readonly now: Date;
}

/** Undefined: there is no such domain or operator zone. */
export async function lockSubject(trx: Database, subject: Subject): Promise<LockedSubject | undefined> {
  if ('domainId' in subject) {
    const domain = await lockDomain(trx, subject.domainId);
    if (domain === undefined || domain.row.deletedAt !== null) return undefined;
    const { row, zone, signed, now } = domain;
    return { subject, apex: decodeNameColumn(row.name), zone, signed, domain, now };
  }
  const { zoneName } = subject;
  const zone = (await lockZones(trx, [zoneName], false)).get(zoneName);
  if (zone === undefined || zone.kind !== 'operator' || zone.deleted) return undefined;
  const signed = (await loadSignedZones(trx, [zoneName])).get(zoneName);
  const now = await currentTime(trx);
  return { subject, apex: decodeNameColumn(zoneName), zone, signed, domain: undefined, now };
}

/** Whose a signed zone is; undefined: its domain was purged. */
export async function subjectOf(db: Database, signedZoneId: number): Promise<Subject | undefined> {
  const { rows } = await sql<{ domainId: number | null; zoneName: string | null }>`
    select domain_id as "domainId", zone_name as "zoneName" from signed_zones where id = ${signedZoneId}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return row.domainId === null ? { zoneName: row.zoneName as string } : { domainId: row.domainId };
}
