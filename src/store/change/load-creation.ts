// Takes the locks of a domain's creation, and loads everything that it depends on, with one statement each.

import { sql } from 'kysely';
import {
  type AccountRoom,
  decodeRoom,
  type RoomJson,
  roomOf,
  unlimitedRoomOf,
} from '../accounts/account-limits.ts';
import { type StartOfPlan, startOfPlan } from '../accounts/subscriptions.ts';
import { type ClaimPast, pastColumns } from '../claims/claim-sets.ts';
import {
  decodePublishSettings,
  type PublishSettings,
  SETTINGS_LOCKED,
  SETTINGS_TEXT,
} from '../postgres/answer-settings.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { askedName, type ClaimedName, claimedColumns, HAS_DOMAINS_AROUND } from './claim-name.ts';
import { namesLocked } from './lock-domain.ts';
import type { Start } from './start-status.ts';

export interface Creation {
  /** Undefined if there is no such account. */
  readonly account: AccountRoom | undefined;
  /** Undefined if the account has no plan. */
  readonly start: StartOfPlan | undefined;
  readonly settings: PublishSettings;
  readonly claimed: ClaimedName;
  readonly past: ClaimPast;
  /** True if a domain has a name above or below this one. */
  readonly hasAround: boolean;
  readonly clocks: Clocks;
}

type Clocks = Pick<Start, 'now' | 'since' | 'firstCheckAt' | 'asksForTurn'>;

interface CreationRow extends ClaimedName, ClaimPast, ClockRow {
  readonly room: RoomJson | null;
  readonly start: StartOfPlan | null;
  readonly settings: string | null;
  readonly hasAround: boolean;
}

interface ClockRow {
  readonly now: Date;
  readonly since: Date | null;
  readonly hasAsked: boolean;
  readonly entries: number;
}

/**
 * Takes the locks of a creation with the next statement, in the order of all writers (lock-domain.ts): the account, whose
 * limits then hold for concurrent creations, the names around the domain, and the settings. The condition on the number of
 * accounts makes Postgres lock the account before it evaluates the other locks.
 */
export async function lockForCreation(
  trx: Database,
  { nameText, accountId, exempt }: Pick<Wanted, 'nameText' | 'accountId' | 'exempt'>,
): Promise<void> {
  const locks = sql`select ${namesLocked(nameText)}, ${SETTINGS_LOCKED}`;
  const locked = exempt
    ? locks
    : sql`
      with account as materialized (select from accounts where id = ${accountId} for no key update)
      ${locks} from (select count(*) as accounts from account) a where a.accounts >= 0`;
  await sendWithNext(trx, locked);
}

interface Wanted {
  readonly nameText: string;
  readonly accountId: number;
  readonly exempt: boolean;
  readonly claimsPerAccount?: number | undefined;
}

/** Call it in a statement after the locks, so that it sees what their previous holders committed. */
export async function loadCreation(
  trx: Database,
  { nameText, accountId, exempt, claimsPerAccount: claimLimit }: Wanted,
): Promise<Creation> {
  const account = sql`n.account_id`;
  const { rows } = await sql<CreationRow>`
    select ${exempt ? unlimitedRoomOf(account) : roomOf(account, { claimLimit })} as room,
      ${startOfPlan(sql`(select plan_id from accounts where id = n.account_id)`)} as start,
      ${SETTINGS_TEXT} as settings, ${claimedColumns({ exempt })}, ${pastColumns(sql`n.name`, account)},
      ${HAS_DOMAINS_AROUND} as "hasAround", k.*
    from ${askedName(nameText, accountId)} cross join lateral (
      select t.now, min(d.pending_since) filter (where d.deleted_at > t.now - interval '1 day') as since,
        coalesce(bool_or(d.turn_last_asked_at > t.now - interval '1 hour'), false) as "hasAsked",
        (select count(*)::integer from domain_changes c
          where c.domain_id = any(array_agg(d.id)) and c.at > t.now - interval '1 hour'
            and c.status_to in ('pending', 'unverified') and c.status_from is distinct from c.status_to) as entries
      from (select ${TIME} as now) t left join domains d on d.name = n.name and d.account_id = n.account_id
      group by t.now) k`.execute(trx);
  const row = rows[0] as CreationRow;
  return {
    account: decodeRoom(row.room),
    start: row.start ?? undefined,
    settings: decodePublishSettings(row.settings),
    claimed: row,
    past: row,
    hasAround: row.hasAround,
    clocks: clocksOf(row),
  };
}

/** Starts of an account's claim on a name per hour that are checked immediately. Further ones wait. */
const STARTS_PER_HOUR = 4;
const LATER_MS = 60_000;

/**
 * Returns the times from which a new claim continues. An account that deletes its domain and creates it again within a
 * day keeps the old start, and cannot request another turn within the same hour.
 */
function clocksOf({ now, since, hasAsked, entries }: ClockRow): Clocks {
  return {
    now,
    ...(since !== null && { since }),
    ...(entries >= STARTS_PER_HOUR && { firstCheckAt: new Date(now.getTime() + LATER_MS) }),
    asksForTurn: !hasAsked,
  };
}
