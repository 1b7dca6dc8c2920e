// Gives combinations of the nameserver pool: a set to an account, a substitute to a claim (docs/rules.md "Nameserver
// pools"). A combination is never given to another account, even if the first one is deleted.

import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
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

interface AccountSet {
  /** In the order of the pool's lists. */
  readonly names: readonly Name[];
  /** Nobody else has it, or ever will. */
  readonly exclusive: boolean;
}

interface Substitute {
  readonly names: readonly Name[];
  /** `shared`: accounts have it as their set. `substitute`: no account has. */
  readonly kind: 'substitute' | 'shared';
}

/** Returns an unpredictable number from 0 up to, but not including, 1, so that the choice of a set cannot be guessed. */
type Random = () => number;

const RANDOM_STEPS = 2 ** 47;
const unforeseen: Random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS;

/** Held while a combination is given, until the end of the transaction. */
const POOL_LOCK = 0x706f6f6c; // 'pool'
/** How many combinations of each kind are tried for a substitute. */
const MOST_TRIES = 64;

/**
 * The account's set; at its first use a combination that nobody ever had, or a shared one when all are given. Undefined
 * without a pool. It may wait for others that are given a set: the caller takes its other locks before.
 */
export async function accountNameserverSet(
  trx: Database,
  accountId: number,
  random: Random = unforeseen,
): Promise<AccountSet | undefined> {
  const settings = await loadPublishSettings(trx);
  const { pool } = settings;
  if (pool === undefined) return undefined;
  const ours = new Set(allOurNameservers(settings));
  const isOurs = (set: AccountSet | undefined) => set?.names.every((name) => ours.has(name)) === true;
  const known = await loadAccountSet(trx, accountId);
  if (isOurs(known)) return known;
  const locked = (await lockPool(trx)).pool;
  const meanwhile = await loadAccountSet(trx, accountId);
  if (isOurs(meanwhile) || locked === undefined) return meanwhile;
  // Only an operator who forces it drops names of a set; its account gets another one.
  const given = await giveAccountSet(trx, locked, accountId, random);
  await sql`
    insert into account_ns_sets (account_id, names) values (${accountId}, ${given.names.map(encodeNameColumn)}::text[])
    on conflict (account_id) do update set names = excluded.names, given_at = clock_timestamp()`.execute(trx);
  return given;
}

/**
 * A set for a claim that cannot have its account's: one that is no account's if there is any, else a shared one. Those given
 * before come first, since one set serves any number of names. `isUsable` says whether it may be this claim's. Undefined when
 * no set is, and without a pool. It locks as `accountNameserverSet` does.
 */
export async function giveSubstitute(
  trx: Database,
  isUsable: (names: readonly Name[]) => boolean | Promise<boolean>,
  random: Random = unforeseen,
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
  if (names === undefined) throw new Error('the nameserver pool has no combination left: widen a list');
  return { names, exclusive: false };
}

async function loadAccountSet(trx: Database, accountId: number): Promise<AccountSet | undefined> {
  const { rows } = await sql<{ names: string[]; exclusive: boolean }>`
    select a.names, g.kind = 'exclusive' as exclusive
    from account_ns_sets a join given_ns_sets g on g.names = a.names where a.account_id = ${accountId}`.execute(
    trx,
  );
  const [row] = rows;
  return row && { names: row.names.map(decodeNameColumn), exclusive: row.exclusive };
}

/** Locks the settings as well, so that no name is dropped that is given now. */
async function lockPool(trx: Database): Promise<PublishSettings> {
  const settings = await lockPublishSettings(trx);
  await sql`select pg_advisory_xact_lock(${POOL_LOCK})`.execute(trx);
  return settings;
}

/** Combinations that were never given. The caller holds the lock. */
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

/** Some that were given so, in random order. */
async function loadGiven(
  trx: Database,
  pool: NameserverPool,
  kind: SetKind,
  random: Random,
): Promise<Combination[]> {
  // Ordered by a hash with a seed, because Postgres's random() cannot be injected.
  const { rows } = await sql<{ names: string[] }>`
    select names from given_ns_sets g where kind = ${kind} and ${isInPool(pool)}
    order by md5(names::text || ${String(random())}) limit ${MOST_TRIES}`.execute(trx);
  return rows.map(({ names }) => names.map(decodeNameColumn));
}

/** How much of the pool is given. */
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

/** `g.names` is a combination of the pool as it is now: lists may have lost names, or be more than they were. */
function isInPool({ lists }: NameserverPool): ReturnType<typeof sql<boolean>> {
  const each = lists.map(
    (names, at) => sql`g.names[${at + 1}::integer] = any(${names.map(encodeNameColumn)}::text[])`,
  );
  return sql`cardinality(g.names) = ${lists.length}::integer and ${sql.join(each, sql` and `)}`;
}

/**
 * Returns a zone that the fleet serves, to query its own addresses for. The oldest one, because every node has loaded
 * it. Undefined if there is none.
 */
export async function loadServedZone(db: Database): Promise<Name | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from zones where deleted_at is null order by id limit 1`.execute(db);
  return rows[0] && decodeNameColumn(rows[0].name);
}
