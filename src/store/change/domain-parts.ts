// Writes the rows of a domain together: its own, its checks, and its verification, if any. No other module does.

import { type Insertable, sql, type UpdateObject } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import type { Schema } from '../postgres/tables/schema.ts';

/** Columns to set. Omitted parts and undefined columns keep their values. */
export interface DomainParts {
  readonly domain?: UpdateObject<Schema, 'domains'>;
  readonly check?: UpdateObject<Schema, 'domain_checks'>;
  /** Columns of the verification. Ignored if the domain has none. */
  readonly verification?: UpdateObject<Schema, 'domain_verifications'>;
  /** Replaces the verification with a new one. Null removes it. */
  readonly newVerification?: NewVerification | null;
}

export type NewVerification = Omit<
  Insertable<Schema['domain_verifications']>,
  'domain_id' | 'account_id' | 'attempts' | 'seq' | 'offered'
>;

/** Increments the number that a save compares. */
const NEXT_SEQ = sql<number>`seq + 1`;

/**
 * Call it under the domain's lock. A check or verification that is running now will not be saved, because the data that
 * it started with may be outdated.
 */
export async function setParts(
  trx: Database,
  domainId: number,
  { domain = {}, check = {}, verification = {}, newVerification }: DomainParts,
): Promise<void> {
  if (hasColumns(domain))
    await sendWithNext(trx, trx.updateTable('domains').set(domain).where('id', '=', domainId));
  const checks = { ...check, ...listedAs(domain), seq: NEXT_SEQ };
  await sendWithNext(trx, trx.updateTable('domain_checks').set(checks).where('domain_id', '=', domainId));
  const verified = { ...verification, seq: NEXT_SEQ };
  if (hasColumns(verification))
    await sendWithNext(
      trx,
      trx.updateTable('domain_verifications').set(verified).where('domain_id', '=', domainId),
    );
  if (newVerification !== undefined) await replaceVerification(trx, domainId, newVerification);
}

function hasColumns(columns: object): boolean {
  return Object.values(columns).some((value) => value !== undefined);
}

/** `domain_checks` has a copy of the deleted state. */
function listedAs({ deleted_at }: UpdateObject<Schema, 'domains'>): { deleted?: boolean } {
  return deleted_at === undefined ? {} : { deleted: deleted_at !== null };
}

async function replaceVerification(
  trx: Database,
  domainId: number,
  row: NewVerification | null,
): Promise<void> {
  await sendWithNext(trx, trx.deleteFrom('domain_verifications').where('domain_id', '=', domainId));
  if (row !== null) await insertVerification(trx, domainId, row);
}

/** Does nothing if the domain has a verification. */
export async function insertVerification(
  trx: Database,
  domainId: number,
  row: NewVerification,
): Promise<void> {
  const account_id = sql<number>`(select account_id from domains where id = ${domainId})`;
  await sendWithNext(
    trx,
    trx
      .insertInto('domain_verifications')
      .values({ ...row, domain_id: domainId, account_id })
      .onConflict((conflict) => conflict.doNothing()),
  );
}

interface NewDomainParts {
  readonly domain: Omit<Insertable<Schema['domains']>, 'zone_id'> & { readonly name: string };
  /** True if the domain gets the zone of its name, unless that is an operator zone. */
  readonly hasZone: boolean;
  readonly check: Omit<Insertable<Schema['domain_checks']>, 'domain_id' | 'account_id'>;
  readonly newVerification: NewVerification | null;
}

/** Call it under `lockNamesAround`. */
export async function insertParts(
  trx: Database,
  { domain, hasZone, check, newVerification }: NewDomainParts,
): Promise<{ readonly id: number; readonly zoneId: number | null }> {
  // Names are locked before zones, so this cannot wait for a writer that waits for this transaction.
  const zone = sql<{ id: number }>`
    (insert into zones as z (name, kind, version, mark, records, deleted_at)
    select ${domain.name}, 'domain', 0, 0, 0, now() where ${hasZone}
    on conflict (name) do update set kind = 'domain' where z.kind = 'domain' or z.deleted_at is not null
    returning id)`;
  const { id, zoneId } = await trx
    .with('zone', () => zone)
    .insertInto('domains')
    .values({ ...domain, zone_id: sql`(select id from zone)` })
    .returning(['id', 'zone_id as zoneId'])
    .executeTakeFirstOrThrow();
  const checks = { ...check, domain_id: id, account_id: domain.account_id };
  await sendWithNext(trx, trx.insertInto('domain_checks').values(checks));
  if (newVerification !== null) await insertVerification(trx, id, newVerification);
  return { id, zoneId };
}
