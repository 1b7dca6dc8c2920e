// Assigns combinations of the nameserver pool: a set to an account, a substitute to a claim (docs/rules.md "Nameserver
// pools"). A combination is never assigned to another account, even if the first account is deleted.

import { randomInt } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { type Combination, combinationCount, combinationsToTry } from '../../zone/pool/combinations.ts';
import type { NameserverPool } from '../../zone/pool/pool.ts';
import { mayGive, type PoolUse, type SetKind } from '../../zone/pool/pool-use.ts';
import {
  allOurNameservers,
  loadPublishSettings,
  lockPublishSettings,
  type PublishSettings,
} from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

export interface AccountSet {
  /** In the order of the pool's lists. */
  readonly names: readonly Name[];
  /** True if no other account has it or will ever get it. */
  readonly exclusive: boolean;
}

interface Substitute {
  readonly names: readonly Name[];
  /** `shared` sets belong to several accounts, a `substitute` belongs to none. */
  readonly kind: 'substitute' | 'shared';
}

/** Returns an unpredictable number from 0 up to, but not including, 1, so that the choice of a set cannot be guessed. */
type Random = () => number;

const RANDOM_STEPS = 2 ** 47;
const unpredictable: Random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS;

/** Held while a combination is assigned, until the end of the transaction. */
const POOL_LOCK = 0x706f6f6c; // 'pool'
/** Maximum number of combinations of each kind that are tried for a substitute. */
const MOST_TRIES = 64;

/**
 * Returns the account's set. The first call assigns an unused combination, or a shared one if all are used. Returns
 * undefined without a pool. It may wait for other assignments, so the caller takes its other locks first.
 */
export async function accountNameserverSet(
  trx: Database,
  accountId: number,
  random: Random = unpredictable,
): Promise<AccountSet | undefined> {
  const settings = await loadPublishSettings(trx);
  const { pool } = settings;
  if (pool === undefined) return undefined;
  const known = await loadAccountSet(trx, accountId);
  if (isComplete(known, settings)) return known;
  const locked = (await lockPool(trx)).pool;
  const meanwhile = await loadAccountSet(trx, accountId);
  if (isComplete(meanwhile, settings) || locked === undefined) return meanwhile;
  // Names disappear from a set only if an operator forces it. The account then gets another set.
  const given = await giveAccountSet(trx, locked, accountId, random);
  await sql`
    insert into account_ns_sets (account_id, names) values (${accountId}, ${given.names.map(encodeNameColumn)}::text[])
    on conflict (account_id) do update set names = excluded.names, given_at = clock_timestamp()`.execute(trx);
  return given;
}

/** Returns true if every name of the set still belongs to the fleet. */
export function isComplete(set: AccountSet | undefined, settings: PublishSettings): set is AccountSet {
  const ours = new Set(allOurNameservers(settings));
  return set?.names.every((name) => ours.has(name)) === true;
}

/**
 * Returns a set for a claim that cannot have its account's set: preferably one of no account, otherwise a shared one.
 * Sets assigned earlier come first, because one set can serve many names. Returns undefined without a pool, or if
 * `isUsable` accepts no set. It locks as `accountNameserverSet` does.
 */
export async function giveSubstitute(
  trx: Database,
  isUsable: (names: readonly Name[]) => boolean | Promise<boolean>,
  random: Random = unpredictable,
): Promise<Substitute | undefined> {
  const { pool } = await lockPool(trx);
  if (pool === undefined) return undefined;
  const usable = async (kind: 'substitute' | 'shared') => {
    for (const names of await loadGiven(trx, pool, kind, random))
      if (await isUsable(names)) return { names, kind };
    return undefined;
  };
  const old = await usable('substitute');
  if (old !== undefined) return old;
  if (mayGive('substitute', await loadPoolUse(trx, pool))) {
    let tries = 0;
    for await (const names of freeCombinations(trx, pool, random)) {
      if (tries++ === MOST_TRIES) break;
      if (!(await isUsable(names))) continue;
      await saveGiven(trx, names, 'substitute', null);
      return { names, kind: 'substitute' };
    }
  }
  return await usable('shared');
}

async function giveAccountSet(
  trx: Database,
  pool: NameserverPool,
  accountId: number,
  random: Random,
): Promise<AccountSet> {
  const use = await loadPoolUse(trx, pool);
  const kind = mayGive('exclusive', use) ? 'exclusive' : 'shared';
  if (mayGive(kind, use)) {
    for await (const names of freeCombinations(trx, pool, random)) {
      await saveGiven(trx, names, kind, kind === 'exclusive' ? accountId : null);
      return { names, exclusive: kind === 'exclusive' };
    }
  }
  const [names] = await loadGiven(trx, pool, 'shared', random);
  if (names === undefined)
    throw new Error('the nameserver pool has no unused combination: add names to a list');
  return { names, exclusive: false };
}

async function loadAccountSet(trx: Database, accountId: number): Promise<AccountSet | undefined> {
  const { rows } = await sql<{ own: AccountSetJson | null }>`
    select ${accountSetOf(sql`${accountId}`)} as own`.execute(trx);
  return decodeAccountSet(rows[0]?.own ?? null);
}

export interface AccountSetJson {
  readonly names: readonly string[];
  readonly exclusive: boolean;
}

/** Selects the account's set; null if it has none. */
export function accountSetOf(accountId: RawBuilder<unknown>): RawBuilder<AccountSetJson | null> {
  return sql`(select json_build_object('names', a.names, 'exclusive', g.kind = 'exclusive')
    from account_ns_sets a join given_ns_sets g on g.names = a.names where a.account_id = ${accountId})`;
}

export function decodeAccountSet(json: AccountSetJson | null): AccountSet | undefined {
  return json === null ? undefined : { ...json, names: json.names.map(decodeNameColumn) };
}

/** Also locks the settings, so that a name that is being assigned cannot be removed. */
async function lockPool(trx: Database): Promise<PublishSettings> {
  const settings = await lockPublishSettings(trx);
  await sql`select pg_advisory_xact_lock(${POOL_LOCK})`.execute(trx);
  return settings;
}

/** Yields combinations that were never assigned. The caller holds the lock. */
async function* freeCombinations(
  trx: Database,
  { lists }: NameserverPool,
  random: Random,
): AsyncGenerator<Combination> {
  for (const batch of combinationsToTry(lists, random)) {
    const texts = batch.map((names) => JSON.stringify(names.map(encodeNameColumn)));
    const { rows } = await sql<{ at: number }>`
      select w.at::integer as at from unnest(${texts}::text[]) with ordinality w (text, at)
      where not exists (
        select from given_ns_sets g where g.names = (select array_agg(n.name order by n.at)
          from jsonb_array_elements_text(w.text::jsonb) with ordinality n (name, at)))
      order by w.at`.execute(trx);
    for (const { at } of rows) yield batch[at - 1] as Combination;
  }
}

async function saveGiven(
  trx: Database,
  names: Combination,
  kind: SetKind,
  accountId: number | null,
): Promise<void> {
  await sql`
    insert into given_ns_sets (names, kind, account_id)
    values (${names.map(encodeNameColumn)}::text[], ${kind}, ${accountId})`.execute(trx);
}

/** Loads some sets of this kind, in random order. */
async function loadGiven(
  trx: Database,
  pool: NameserverPool,
  kind: SetKind,
  random: Random,
): Promise<Combination[]> {
  // Sorts by a seeded hash, because Postgres's random() cannot be injected.
  const { rows } = await sql<{ names: string[] }>`
    select names from given_ns_sets g where kind = ${kind} and ${isInPool(pool)}
    order by md5(names::text || ${String(random())}) limit ${MOST_TRIES}`.execute(trx);
  return rows.map(({ names }) => names.map(decodeNameColumn));
}

/** Counts the assigned combinations of the pool. */
export async function loadPoolUse(db: Database, pool: NameserverPool): Promise<PoolUse> {
  const { rows } = await sql<{ kind: SetKind; count: number }>`
    select kind, count(*)::integer as count from given_ns_sets g where ${isInPool(pool)} group by kind`.execute(
    db,
  );
  const counts = new Map(rows.map(({ kind, count }) => [kind, count]));
  const countOf = (kind: SetKind) => counts.get(kind) ?? 0;
  return {
    total: combinationCount(pool.lists),
    exclusive: countOf('exclusive'),
    substitute: countOf('substitute'),
    shared: countOf('shared'),
  };
}

/** SQL condition: `g.names` is a combination of the current pool, whose lists may have changed. */
function isInPool({ lists }: NameserverPool): ReturnType<typeof sql<boolean>> {
  const each = lists.map(
    (names, at) => sql`g.names[${at + 1}::integer] = any(${names.map(encodeNameColumn)}::text[])`,
  );
  return sql`cardinality(g.names) = ${lists.length}::integer and ${sql.join(each, sql` and `)}`;
}

/**
 * Returns the oldest zone that the fleet serves, which every node has loaded. It is used to query the fleet's own
 * addresses. Returns undefined if there is none.
 */
export async function loadServedZone(db: Database): Promise<Name | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from zones where deleted_at is null order by id limit 1`.execute(db);
  return rows[0] && decodeNameColumn(rows[0].name);
}
