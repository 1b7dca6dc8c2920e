// Which servers the parent names for a domain, and since when, from its log of checks.

import { sql } from 'kysely';
import type { Delegation } from '../../checks/dnssec/next-keys.ts';
import type { Database } from '../postgres/database.ts';

/** Two days: the largest TTL of NS sets in zones of note (RFC 1912 §2.2 speaks of days). */
const UNKNOWN_NS_TTL = 172_800;
/** A run that began so soon after the domain was made is its first one: older ones are deleted. */
const FIRST_WITHIN = '1 hour';

interface DelegationRow {
  readonly since: Date | null;
  readonly ttl: number | null;
  readonly isFirst: boolean;
  readonly elsewhereSince: Date | null;
}

const NOTHING: DelegationRow = { since: null, ttl: null, isFirst: false, elsewhereSince: null };

/** Runs that decided nothing are left out; a run stands for all later ones with the same outcome. */
export async function loadDelegation(db: Database, domainId: number): Promise<Delegation> {
  const { rows } = await sql<DelegationRow>`
    with run as materialized (
      select id, verdict, started_at, finished_at from check_runs
      where domain_id = ${domainId} and verdict <> 'unknown'),
    turned as (select coalesce(max(id), 0) as id from run where verdict <> 'match'),
    matching as (
      select min(r.finished_at) as since, max(r.id) as last from run r, turned t where r.id > t.id),
    before as (
      select min(r.started_at) as first, bool_and(r.verdict in ('unregistered', 'not_delegated')) as none
      from run r, turned t where r.id <= t.id)
    select m.since, (
        select min(finished_at) from run where id > coalesce((
          select max(id) from run where verdict not in ('foreign', 'not_delegated', 'unregistered')), 0)) as "elsewhereSince", (
        select max((s ->> 'ttl')::integer) from check_runs c, jsonb_array_elements(c.evidence -> 'servers') s
        where c.id = m.last) as ttl,
      coalesce(b.none and b.first < d.created_at + ${FIRST_WITHIN}::interval, false) as "isFirst"
    from domains d, matching m, before b where d.id = ${domainId}`.execute(db);
  const { since, ttl, isFirst, elsewhereSince } = rows[0] ?? NOTHING;
  if (since === null)
    return { kind: 'not_ours', ...(elsewhereSince !== null && { elsewhereSince: elsewhereSince.getTime() }) };
  return { kind: 'ours', since: since.getTime(), ttl: ttl ?? UNKNOWN_NS_TTL, isFirst };
}
