// An account's relations to a name: nameserver sets that prove it for them (docs/rules.md "Sets and rights"), sets that the
// parent showed ("Sightings"), and past holders ("Proof"). Sightings and holders are kept for two years.

import { type RawBuilder, sql } from 'kysely';
import { endingRights } from '../../checks/claims/choose-sets.ts';
import { HOLDERS_KEPT_MS, type NameHolder } from '../../checks/claims/name-holders.ts';
import type { Sighting } from '../../checks/claims/sightings.ts';
import type { DomainRow } from '../domains/domain-row.ts';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';

/** Selects the sightings of a name, as JSON. */
export function sightingsOf(name: RawBuilder<unknown>): RawBuilder<readonly Sighting[]> {
  return sql`(select coalesce(json_agg(json_build_object('names', s.names,
      'lastSeenAt', extract(epoch from s.last_seen_at) * 1000)), '[]')
    from ns_sightings s where s.name = ${name})`;
}

/** Returns the sets that the parent showed. A shared set that it showed before a claim was made does not prove the claim. */
export async function loadSightings(db: Database, nameText: string): Promise<readonly Sighting[]> {
  const { rows } = await sql<{ sightings: readonly Sighting[] }>`
    select ${sightingsOf(sql`${nameText}`)} as sightings`.execute(db);
  return rows[0]?.sightings ?? [];
}

export async function saveSighting(
  trx: Database,
  nameText: string,
  names: readonly string[],
  at: Date,
): Promise<void> {
  await sql`
    insert into ns_sightings as s (name, names, first_seen_at, last_seen_at)
    values (${nameText}, ${names}::text[], ${at}, ${at})
    on conflict (name, names) do update set last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at)`.execute(
    trx,
  );
}

export interface Right {
  /** Sorted, in stored form. */
  readonly names: readonly string[];
  readonly accountId: number;
  readonly exclusive: boolean;
}

export async function loadRights(db: Database, nameText: string): Promise<readonly Right[]> {
  const { rows } = await sql<{ rights: readonly Right[] }>`
    select ${rightsTo(sql`${nameText}`)} as rights`.execute(db);
  return rows[0]?.rights ?? [];
}

/** Selects the rights to a name, as JSON. */
export function rightsTo(name: RawBuilder<unknown>): RawBuilder<readonly Right[]> {
  return sql`(select coalesce(json_agg(json_build_object('names', r.names, 'accountId', r.account_id,
      'exclusive', r.exclusive) order by r.made_at), '[]')
    from ns_rights r where r.name = ${name})`;
}

/** Call it under `lockNamesAround`. If another account has the right, it keeps it. */
export async function saveRight(trx: Database, nameText: string, right: Right): Promise<void> {
  const names = sortedNames(right.names);
  const saved = sql`
    insert into ns_rights (name, names, account_id, exclusive)
    values (${nameText}, ${names}::text[], ${right.accountId}, ${right.exclusive})
    on conflict (name, names) do nothing`;
  await sendWithNext(trx, saved);
}

/** Takes the right from the account that has it. */
export async function takeRight(trx: Database, nameText: string, right: Right): Promise<void> {
  await sql`
    insert into ns_rights (name, names, account_id, exclusive)
    values (${nameText}, ${sortedNames(right.names)}::text[], ${right.accountId}, ${right.exclusive})
    on conflict (name, names) do update set account_id = excluded.account_id, exclusive = excluded.exclusive,
      made_at = clock_timestamp()`.execute(trx);
}

export async function giveUpRights(
  trx: Database,
  nameText: string,
  accountId: number,
  sets: readonly (readonly string[])[],
): Promise<void> {
  for (const names of sets)
    await sql`
      delete from ns_rights
      where name = ${nameText} and names = ${sortedNames(names)}::text[] and account_id = ${accountId}`.execute(
      trx,
    );
}

/** Ends the rights that end with their account's claim (`endingRights`). The others remain for two years. */
export async function endRights(trx: Database, nameText: string, accountId: number): Promise<void> {
  const rights = await loadRights(trx, nameText);
  if (rights.every((right) => right.accountId !== accountId)) return;
  const sighted = (await loadSightings(trx, nameText)).map(({ names }) => names);
  const ending = endingRights(rights, accountId, sighted);
  await giveUpRights(
    trx,
    nameText,
    accountId,
    ending.map(({ names }) => names),
  );
}

export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/**
 * Records that an account had the name active. For 90 days, a shared set that the parent showed before proves such an
 * account's claim. A single static set is no proof while another account held the name. Call it before any change of a
 * domain's status. Does nothing if the domain was not delegated to the fleet.
 */
export async function saveNameHolder(
  trx: Database,
  { name, accountId, dnsMode, status, movedSince }: DomainRow,
  now: Date,
): Promise<void> {
  if (dnsMode !== 'managed' || (status !== 'active' && status !== 'moved')) return;
  const activeAt = movedSince ?? now;
  await sql`
    insert into name_holders (name, account_id, active_at) values (${name}, ${accountId}, ${activeAt})
    on conflict (name, account_id) do update set active_at = excluded.active_at`.execute(trx);
}

/** Selects the `name_holders` of a name, as JSON. */
export function holdersOf(name: RawBuilder<unknown>): RawBuilder<readonly NameHolder[]> {
  return sql`(select coalesce(json_agg(json_build_object('accountId', h.account_id,
      'activeAt', extract(epoch from h.active_at) * 1000)), '[]')
    from name_holders h where h.name = ${name}
      and h.active_at > clock_timestamp() - make_interval(secs => ${HOLDERS_KEPT_MS / 1000}))`;
}

/** Transfers an account's rights, past and sweeps of a name to another account. Call it under `lockNamesAround`. */
export async function transferNamePast(
  trx: Database,
  { name, from, to }: { readonly name: string; readonly from: number; readonly to: number },
): Promise<void> {
  // A name and a set have one right, so the new account cannot have one of these already.
  await sql`update ns_rights set account_id = ${to} where name = ${name} and account_id = ${from}`.execute(
    trx,
  );
  await sql`
    with former as (
      delete from name_holders where name = ${name} and account_id = ${from} returning active_at)
    insert into name_holders as h (name, account_id, active_at) select ${name}, ${to}::bigint, f.active_at from former f
    on conflict (name, account_id) do update set active_at = greatest(h.active_at, excluded.active_at)`.execute(
    trx,
  );
  await sql`update swept_names set account_id = ${to} where name = ${name} and account_id = ${from}`.execute(
    trx,
  );
}
