// Decides which domain of a name has its zone: nodes hold one zone per name, but several accounts may claim it
// (docs/rules.md "What is answered"). Passes the zone from one domain to another, and starts turns.

import { sql } from 'kysely';
import {
  type AnsweredDomain,
  answeredDomain,
  approvedClaim,
  type NamedDomain,
} from '../../checks/claims/answered.ts';
import { isFollowed, nextTurn, type WaitingClaim } from '../../checks/claims/next-turn.ts';
import { claimsToPrepare } from '../../checks/claims/prepare.ts';
import type { DnsMode, DomainStatus, Served } from '../../zone/domain/domain-status.ts';
import { TXT_COUNTS } from '../domains/domain-row.ts';
import { nameserversOf } from '../domains/nameserver-sets.ts';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { inOneTrip, sendWithNext } from '../postgres/pool-driver.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';
import { type LockedZone, lockZones } from '../zones/write-zone.ts';
import { isBelow, namesAbove } from './claim-name.ts';
import { settleOffers } from './start-status.ts';

export interface SettledName {
  readonly answered: AnsweredDomain | undefined;
  /** Domains that got or lost the zone. */
  readonly moved: readonly number[];
  /** The domain whose apex now shows other nameservers: those of a claim, or its own again. */
  readonly lent?: { readonly id: number; readonly before: readonly string[] | null };
}

/** The serial of a domain before its first change, so that the next one is 1. */
export const BEFORE_FIRST_SERIAL = 0xffff_ffff;

/** Returns what nodes serve of this domain of the name. */
export function servedIn({ answered }: SettledName, domainId: number): Served {
  return answered?.id === domainId ? answered.served : 'none';
}

/**
 * Settles the name according to the current columns of its domains. Call it under `lockNamesAround`. The caller writes
 * the changes of the affected domains.
 */
export async function settleName(trx: Database, nameText: string): Promise<SettledName> {
  const trip = inOneTrip(trx);
  const [rows, sightedRights] = await Promise.all([
    loadNamed(trip, nameText),
    loadSightedRights(trip, nameText),
  ]);
  const holder = rows.find((row) => stageOf(row) === 'holding');
  // While the parent shows the holder's set, a turn would let another account change a working zone.
  const named = rows.map(namedDomain);
  const approved = approvedClaim(named);
  const turn =
    holder === undefined || holder.hasMissed ? (approved?.id ?? (await settleTurn(trx, rows))) : undefined;
  const lent =
    holder === undefined
      ? undefined
      : await lend(
          trx,
          holder,
          rows.find(({ id }) => id === turn),
        );
  const around = { turn, sightedRights };
  // For a waiting name, the claim that has the turn determines the accounts of the zones around it.
  const chosen = answeredDomain(named, { ...around, enclosing: 'none' });
  const account = rows.find(({ id }) => id === chosen?.id)?.accountId;
  const isWaiting = chosen !== undefined && account !== undefined && !isHolder(rows, chosen.id);
  const enclosingOf = isWaiting ? await loadEnclosing(trx, nameText, chosen.id) : () => 'none' as const;
  const enclosing = isWaiting ? enclosingOf(account, chosen.id === approved?.id) : 'none';
  const answered = answeredDomain(named, { ...around, enclosing });
  const preparing = claimsToPrepare(named, around.sightedRights, enclosingOf);
  await settleOffers(
    trx,
    rows.filter((row) => stageOf(row) === 'waiting'),
    preparing.filter((id) => rows.some((row) => row.id === id && row.mayPrepare)),
  );
  const before = rows.find(({ zoneId }) => zoneId !== null);
  const isSame = answered === undefined || before?.id === answered.id;
  const passed = isSame ? { answered, moved: [] } : await passZone(trx, nameText, before, answered);
  return lent === undefined ? passed : { ...passed, lent };
}

interface NamedRow {
  readonly id: number;
  readonly accountId: number;
  readonly zoneId: number | null;
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly leaving: boolean;
  readonly open: boolean;
  readonly othersSighted: boolean;
  /** True if a check did not find its set and no later check has. */
  readonly hasMissed: boolean;
  readonly hasTxt: boolean;
  readonly isApproved: boolean;
  /**
   * True if the domain has a set and the newest conclusive check showed no other account's set. Then its DNS is at
   * another provider, where the record can be added.
   */
  readonly mayPrepare: boolean;
  /** Null if it has no verification. */
  readonly offered: boolean | null;
  readonly nsSets: readonly StoredSet[] | null;
  readonly delegatedNs: readonly string[] | null;
  readonly chosenNs: readonly string[] | null;
  readonly lentNs: readonly string[] | null;
  readonly turnAskedAt: Date | null;
  readonly turnFrom: Date | null;
  readonly turnUntil: Date | null;
  readonly now: Date;
}

async function loadNamed(trx: Database, nameText: string): Promise<readonly NamedRow[]> {
  const { rows } = await sql<NamedRow>`
    select d.id, d.account_id as "accountId", d.zone_id as "zoneId", d.status, d.dns_mode as "dnsMode", d.leaving, d.open,
      not d.by_operator and d.ns_sets is not null and exists (
        select from ns_sightings s where s.name = d.name and not (s.names <@ array(
          select jsonb_array_elements_text(e.one -> 'names') from jsonb_array_elements(d.ns_sets) e (one)))) as "othersSighted",
      d.status = 'moved' or c.miss_count > 0 as "hasMissed",
      d.status = 'pending' and coalesce(${TXT_COUNTS}, false) as "hasTxt", d.approved_ahead as "isApproved",
      coalesce(c.conclusive_at is not null and not c.conclusive_others and d.ns_sets is distinct from '[]', false) as "mayPrepare",
      v.offered, d.ns_sets as "nsSets", d.delegated_ns as "delegatedNs", d.chosen_ns as "chosenNs", d.lent_ns as "lentNs",
      d.turn_asked_at as "turnAskedAt", d.turn_from as "turnFrom", d.turn_until as "turnUntil", clock_timestamp() as now
    from domains d join domain_checks c on c.domain_id = d.id left join domain_verifications v on v.domain_id = d.id
    where d.name = ${nameText} and d.deleted_at is null order by d.id`.execute(trx);
  return rows;
}

function namedDomain(row: NamedRow): NamedDomain {
  const { id, accountId, open, othersSighted, hasTxt, isApproved } = row;
  return { id, accountId, open, othersSighted, stage: stageOf(row), hasTxt, isApproved };
}

function stageOf({
  status,
  dnsMode,
  leaving,
}: Pick<NamedRow, 'status' | 'dnsMode' | 'leaving'>): NamedDomain['stage'] {
  if (status === 'disabled' || status === 'banned') return 'off';
  if (leaving) return 'holding';
  if (status === 'unverified') return 'unverified';
  if (status === 'pending') return 'waiting';
  return dnsMode === 'managed' ? 'holding' : 'holdingElsewhere';
}

function isHolder(rows: readonly NamedRow[], id: number): boolean {
  return rows.some((row) => row.id === id && stageOf(row) === 'holding');
}

/**
 * Lends the apex of the holder's zone to the claim that has the turn: registries that check nameservers before they
 * delegate must see the claim's set. All names lead to the same nodes, so nothing breaks.
 */
async function lend(
  trx: Database,
  holder: NamedRow,
  claim: NamedRow | undefined,
): Promise<SettledName['lent']> {
  const { id, lentNs: before } = holder;
  const wanted =
    claim === undefined || claim.nsSets?.length === 0
      ? null
      : nameserversOf({ ...claim, lentNs: null }, await loadPublishSettings(trx)).map(encodeNameColumn);
  if ((wanted ?? []).join() === (before ?? []).join()) return undefined;
  await sql`update domains set lent_ns = ${wanted}::text[] where id = ${id}`.execute(trx);
  return { id, before };
}

/** Returns the claim that has the turn. */
async function settleTurn(trx: Database, rows: readonly NamedRow[]): Promise<number | undefined> {
  const waiting = rows.filter((row) => stageOf(row) === 'waiting');
  const [first] = waiting;
  if (first === undefined || waiting.length === 1) return first?.id;
  const now = first.now.getTime();
  const claims = waiting.map(waitingClaim);
  const next = nextTurn(claims, now);
  if (next?.isNew)
    await sql`
      update domains set turn_from = ${new Date(next.turn.from)}, turn_until = ${new Date(next.turn.until)},
        turn_asked_at = null where id = ${next.id}`.execute(trx);
  const isOver = next !== undefined && next.turn.until <= now;
  // The check that runs when this turn ends starts the next one.
  if (next !== undefined && !isOver && isFollowed(claims.map((claim) => afterTurn(claim, next))))
    await sql`
      update domain_checks set due_at = least(due_at, ${new Date(next.turn.until)})
      where domain_id = any(${waiting.map(({ id }) => id)}::bigint[]) and due_at is not null`.execute(trx);
  return next?.id;
}

export function waitingClaim({
  id,
  hasTxt,
  turnAskedAt,
  turnFrom,
  turnUntil,
}: Pick<NamedRow, 'id' | 'hasTxt' | 'turnAskedAt' | 'turnFrom' | 'turnUntil'>): WaitingClaim {
  return {
    id,
    hasTxt,
    askedAt: turnAskedAt?.getTime(),
    turn: turnFrom && turnUntil ? { from: turnFrom.getTime(), until: turnUntil.getTime() } : undefined,
  };
}

/** Returns the claim as it is after the turn was given. */
function afterTurn(
  claim: WaitingClaim,
  { id, turn, isNew }: NonNullable<ReturnType<typeof nextTurn>>,
): WaitingClaim {
  return claim.id === id && isNew ? { ...claim, turn, askedAt: undefined } : claim;
}

/** Returns the accounts with the right to a set of which the parent showed a name here. */
async function loadSightedRights(trx: Database, nameText: string): Promise<number[]> {
  const { rows } = await sql<{ accountId: number }>`
    select distinct r.account_id as "accountId" from ns_rights r
    where r.name = ${nameText} and exists (
      select from ns_sightings s where s.name = r.name and s.names && r.names)`.execute(trx);
  return rows.map(({ accountId }) => accountId);
}

/**
 * Returns a function that classifies what accounts other than the given one have around the name: `full` if a zone
 * above it is answered completely, `apex` if there are claims above or below it. For an approved claim, customers'
 * claims count only if they are above it and answered completely, because every customer can make claims. Claims by
 * operators also count if they are above it and older, or below it and answered completely.
 */
async function loadEnclosing(
  trx: Database,
  nameText: string,
  chosenId: number,
): Promise<(accountId: number, isApproved?: boolean) => 'full' | 'apex' | 'none'> {
  const counts = sql`d.deleted_at is null
    and (d.leaving or d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved'))`;
  // Two accounts below are enough, since at least one of them is not the given one.
  const { rows } = await sql<{ accountId: number; isWholeAbove: boolean; countsForApproved: boolean }>`
    select d.account_id as "accountId", bool_or(d.served = 'full') as "isWholeAbove",
      bool_or(d.by_operator and d.id < ${chosenId}) as "countsForApproved"
    from domains d
    where d.name = any(${namesAbove(nameText)}::text[]) and ${counts} group by d.account_id
    union all
    (select distinct d.account_id, false, false from domains d where ${isBelow(nameText)} and ${counts} limit 2)
    union all
    (select distinct d.account_id, false, true from domains d
      where ${isBelow(nameText)} and d.deleted_at is null and d.status = 'pending' and d.by_operator and d.served = 'full'
      limit 2)`.execute(trx);
  return (accountId, isApproved = false) => {
    const others = rows.filter(
      (row) => row.accountId !== accountId && (!isApproved || row.isWholeAbove || row.countsForApproved),
    );
    return others.some(({ isWholeAbove }) => isWholeAbove) ? 'full' : others.length > 0 ? 'apex' : 'none';
  };
}

/** Gives the name's zone to the domain that is answered. `answered` is undefined if an operator zone has the name. */
async function passZone(
  trx: Database,
  nameText: string,
  before: NamedRow | undefined,
  answered: AnsweredDomain,
): Promise<SettledName> {
  // Locks rows of domains before their zone, as all writers do (lock-domain.ts).
  const ids = [answered.id, ...(before === undefined ? [] : [before.id])];
  await sendWithNext(trx, sql`select from domains where id = any(${ids}::bigint[]) order by id for update`);
  const zone = (await lockZones(trx, [nameText], true)).get(nameText) as LockedZone;
  if (zone.kind === 'operator' && !zone.deleted) return { answered: undefined, moved: [] };
  if (before !== undefined)
    await sendWithNext(
      trx,
      sql`update domains set zone_id = null, served = 'none', lent_ns = null where id = ${before.id}`,
    );
  // To secondaries it is one zone, whose serial only grows even if its owner changes.
  const passed = sql`
    update domains set zone_id = ${zone.id}, served = 'none', serial = coalesce(greatest(
      nullif(serial, ${BEFORE_FIRST_SERIAL}), (
        select max(d.serial) from domains d where d.name = ${nameText} and d.id <> ${answered.id})), serial)
    where id = ${answered.id}`;
  await sendWithNext(trx, passed);
  await sendWithNext(trx, sql`update zones set kind = 'domain' where id = ${zone.id}`);
  return { answered, moved: [...(before === undefined ? [] : [before.id]), answered.id] };
}
