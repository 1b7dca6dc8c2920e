// Loads a name for a check: all its domains with their state, the sets that prove them, and the name's past.

import { sql } from 'kysely';
import type { NameClaims } from '../../checks/claims/name-claims.ts';
import { isFollowed } from '../../checks/claims/next-turn.ts';
import type { Sighting } from '../../checks/claims/sightings.ts';
import type { Name } from '../../dns/name.ts';
import { groupBy } from '../../zone/records/group-by.ts';
import { waitingClaim } from '../change/settle-name.ts';
import { holdersOf, sightingsOf } from '../claims/name-rights.ts';
import { TXT_COUNTS } from '../domains/domain-row.ts';
import { decodePublishSettings, type PublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';
import { type CheckedRow, type Claims, checkedStatusOf, nameClaims } from './checked-claims.ts';
import { loadInnerDomains } from './inner-domains.ts';

export interface CheckedName {
  readonly name: Name;
  readonly nameText: string;
  readonly claims: NameClaims;
  /** The state needed to save a check of each claim, by domain id. */
  readonly saved: ReadonlyMap<number, SavedState>;
  readonly sightings: readonly Sighting[];
  /** The latest check of the name for any claim, in milliseconds since 1970. */
  readonly checkedAt: number | undefined;
  /** The end of the current turn, if another claim waits for the next one. */
  readonly turnEndsAt: number | undefined;
  readonly settings: PublishSettings;
}

export interface SavedState {
  /** Compared when the check is saved. Every change of the domain increments it. */
  readonly seq: number;
  /** The latest saved check for this claim, in milliseconds since 1970. */
  readonly checkedAt: number | undefined;
  /** The scheduled time of the next check. Checks change it; claims by the scheduler do not. */
  readonly nextCheckAt: number | undefined;
  /** The zone that delegates the domain, in stored form, as far as known. */
  readonly parentText: string;
  /** True if an operator approved the claim: the first of the fleet's sets that the parent shows proves it. */
  readonly approvedAhead: boolean;
}

/**
 * DS records of the fleet's keys, as the key machine prints them; null if the domain was never signed. A DS record of
 * another operator's key matches none of the fleet's signatures, even if that key is in the zone (RFC 4035 §5.2).
 */
const OWN_DS = sql`(select jsonb_path_query_array(s.machine, '$.keys[*] ? (!(@.isForeign == true)).ds[*]') from signed_zones s
  where s.domain_id = d.id and s.machine is not null)`;

/**
 * Loads all domains of the name of each of these domains. The result has no entry for a domain that is deleted, or in a
 * status that is not checked.
 */
export async function loadClaims(
  db: Database,
  domainIds: readonly number[],
): Promise<ReadonlyMap<number, Claims>> {
  const { rows } = await sql<CheckedRow>`
    select d.id, d.name, d.account_id as "accountId", c.seq, d.status, d.dns_mode as "dnsMode", d.leaving,
      d.disabled_by as "disabledBy", d.created_at as "createdAt", d.pending_since as "pendingSince",
      d.moved_since as "movedSince", d.leaving_since as "leavingSince", d.ended_at as "endedAt",
      c.miss_count as "missCount", c.first_miss_at as "firstMissAt", c.last_miss_at as "lastMissAt",
      c.conclusive_at as "conclusiveAt", c.conclusive_ours as "conclusiveOurs", c.conclusive_others as "conclusiveOthers",
      c.takeover_seen_at as "takeoverSeenAt", c.witness_at as "witnessAt", c.seen_ns as "seenNs",
      c.ns_changed_at as "nsChangedAt", d.ns_sets as "nsSets",
      d.by_operator as "byOperator", d.approved_ahead as "approvedAhead", d.turn_asked_at as "turnAskedAt", d.turn_from as "turnFrom",
      d.turn_until as "turnUntil", coalesce(${TXT_COUNTS}, false) as "hasTxt",
      d.delegated_ns as "delegatedNs", d.chosen_ns as "chosenNs", c.next_at as "nextCheckAt", c.unknowns,
      c.parent as "parentText", ${OWN_DS} as "ownDs", r.verdict, r.last_seen_at as "checkedAt", ${SETTINGS_TEXT} as settings,
      ${holdersOf(sql`d.name`)} as holders, ${sightingsOf(sql`d.name`)} as sightings,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
      (select coalesce(json_agg(extract(epoch from t.at) * 1000), '[]') from name_takeovers t
        where t.name = d.name and t.at > clock_timestamp() - interval '1 day') as takeovers
    from domains d join domain_checks c on c.domain_id = d.id left join check_runs r on r.id = c.last_run_id
      left join domain_verifications v on v.domain_id = d.id
    where d.name = any(array(select name from domains where id = any(${arrayOf('bigint', domainIds)}::bigint[])))
      and d.deleted_at is null
    order by d.id`.execute(db);
  const byName = groupBy(rows, ({ name }) => name);
  const checked = rows.filter((row) => checkedStatusOf(row) !== undefined);
  return new Map(checked.map(({ id, name }) => [id, byName.get(name) as Claims]));
}

export async function checkedName(db: Database, rows: Claims): Promise<CheckedName> {
  const [first] = rows;
  const settings = decodePublishSettings(first.settings);
  const inner = await loadInnerDomains(
    db,
    first.name,
    rows.filter((row) => checkedStatusOf(row) === 'pending'),
  );
  return {
    name: decodeNameColumn(first.name),
    nameText: first.name,
    claims: nameClaims(rows, settings, inner),
    saved: new Map(rows.map((row) => [row.id, savedState(row)])),
    sightings: first.sightings,
    checkedAt: newestOf(rows.map(({ checkedAt }) => checkedAt)),
    turnEndsAt: isFollowed(rows.filter(({ status }) => status === 'pending').map(waitingClaim))
      ? newestOf(rows.map(({ turnUntil }) => turnUntil))
      : undefined,
    settings,
  };
}

function newestOf(times: readonly (Date | null)[]): number | undefined {
  const known = times.filter((time) => time !== null).map((time) => time.getTime());
  return known.length === 0 ? undefined : Math.max(...known);
}

function savedState({ seq, checkedAt, nextCheckAt, parentText, approvedAhead }: CheckedRow): SavedState {
  return {
    seq,
    checkedAt: checkedAt?.getTime(),
    nextCheckAt: nextCheckAt?.getTime(),
    parentText,
    approvedAhead,
  };
}
