// Writes the rows of a domain together: its own, its checks, and its verification, if any. No other module does.

import { type Insertable, sql, type UpdateObject } from 'kysely';
import { PLAN_JSON, type Plan } from '../accounts/plans.ts';
import { type DomainSettings, SELECTED_SETTINGS } from '../domains/domain-settings.ts';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import type { Schema } from '../postgres/tables/schema.ts';
import { newRecordIds } from '../records/record-row.ts';
import { LOCKED_ZONE_COLUMNS, type LockedZone } from '../zones/write-zone.ts';

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

type NewRow = Omit<Insertable<Schema['domains']>, 'zone_id' | 'served' | 'serial' | 'answers_generation'> & {
  readonly name: string;
};
type ServedColumns = Pick<Insertable<Schema['domains']>, 'served' | 'serial' | 'answers_generation'>;

interface NewDomainParts {
  readonly domain: NewRow;
  /** Columns of a domain that gets the zone of its name; undefined if it does not get it yet. */
  readonly answered: ServedColumns | undefined;
  /** Columns of a domain that does not get the zone, also because an operator zone has the name. */
  readonly unanswered: ServedColumns;
  readonly check: Omit<Insertable<Schema['domain_checks']>, 'domain_id' | 'account_id'>;
  readonly newVerification: NewVerification | null;
  /** Number of ids to allocate for records. */
  readonly ids: number;
}

interface InsertedParts {
  readonly id: number;
  readonly zone: LockedZone | undefined;
  readonly ids: readonly number[];
  readonly plan: Plan | null;
  /** The default settings. */
  readonly settings: DomainSettings;
}

/** Call it under `lockNamesAround`. No other transaction can lock the rows that it inserts. */
export async function insertParts(
  trx: Database,
  { domain, answered, unanswered, check, newVerification, ids: count }: NewDomainParts,
): Promise<InsertedParts> {
  const either = (column: keyof ServedColumns, type: string) =>
    answered === undefined
      ? (unanswered[column] as never)
      : sql<never>`case when exists (select from zone) then ${answered[column]}::${sql.raw(type)}
          else ${unanswered[column]}::${sql.raw(type)} end`;
  const columns = {
    ...domain,
    zone_id: sql<number>`(select id from zone)`,
    served: either('served', 'text'),
    serial: either('serial', 'bigint'),
    answers_generation: either('answers_generation', 'integer'),
  };
  const ofDomain = { domain_id: sql<number>`(select id from made)`, account_id: domain.account_id };
  const verification =
    newVerification === null
      ? sql``
      : sql`, verification as (${trx.insertInto('domain_verifications').values({ ...newVerification, ...ofDomain })})`;
  // Names are locked before zones, so this cannot wait for a writer that waits for this transaction.
  const { rows } = await sql<Omit<InsertedParts, 'zone'> & { zone: LockedZone | null }>`
    with zone as (
      insert into zones (name, kind, version, mark, records, deleted_at)
      select ${domain.name}, 'domain', 0, 0, 0, now() where ${answered !== undefined}
      on conflict (name) do update set kind = 'domain' where zones.kind = 'domain' or zones.deleted_at is not null
      returning ${LOCKED_ZONE_COLUMNS}),
    made as (${trx.insertInto('domains').values(withoutNulls(columns)).returningAll()}),
    checks as (${trx.insertInto('domain_checks').values(withoutNulls({ ...check, ...ofDomain }))})${verification}
    select d.id, to_jsonb(z) || jsonb_build_object('nextVersion', nextval('change_version')) as zone,
      ${newRecordIds(count)} as ids, case when p.id is not null then ${PLAN_JSON} end as plan,
      (select to_json(s) from (select ${SELECTED_SETTINGS}) s) as settings
    from made d left join plans p on p.id = d.plan_id left join zone z on true`.execute(trx);
  const { zone, ...inserted } = rows[0] as (typeof rows)[0];
  return { ...inserted, zone: zone ?? undefined };
}

/** Omits the columns that are null by default, because each value costs time. */
function withoutNulls<T extends object>(columns: T): T {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null)) as T;
}
