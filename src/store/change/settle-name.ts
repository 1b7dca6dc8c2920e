// Which domain of a name has its zone: nodes hold one zone a name, and several accounts may claim it (docs/rules.md "What is
// answered"). The zone passes from one domain to another here, and turns begin here.

import { sql } from 'kysely';
import { type AnsweredDomain, answeredDomain, type NamedDomain } from '../../checks/claims/answered.ts';
import { nextTurn } from '../../checks/claims/next-turn.ts';
import type { DnsMode, DomainStatus, Served } from '../../zone/domain/domain-status.ts';
import { nameserversOf } from '../domains/domain.ts';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import type { StoredSet } from '../postgres/schema.ts';
import { type LockedZone, lockZones } from '../zones/write-zone.ts';
import { isBelow, namesAbove } from './names-around.ts';

export interface SettledName {
  readonly answered: AnsweredDomain | undefined;
  /** The domains whose zone is another than before, or gone. */
  readonly moved: readonly number[];
  /** The domain whose apex shows other nameservers than before: those of a claim, or its own again. */
  readonly lent?: { readonly id: number; readonly before: readonly string[] | null };
}

/** The serial of a domain without any change: the next one is 1. */
export const BEFORE_FIRST_SERIAL = 0xffff_ffff;

/** What nodes serve of one domain of the name. */
export function servedIn({ answered }: SettledName, domainId: number): Served {
  return answered?.id === domainId ? answered.served : 'none';
}

/**
 * Settles the name as its domains' columns are now. Call it under `lockNamesAround`; the caller writes the changes of the
 * domains that are concerned.
 */
export async function settleName(trx: Database, nameText: string): Promise<SettledName> {
  const rows = await loadNamed(trx, nameText);
  const holder = rows.find((row) => stageOf(row) === 'holding');
  // While the parent shows the holder's set, a turn would be a stranger's hand in a zone that works.
  const turn = holder === undefined || holder.hasMissed ? await settleTurn(trx, rows) : undefined;
  const lent =
    holder === undefined
      ? undefined
      : await lend(
          trx,
          holder,
          rows.find(({ id }) => id === turn),
        );
  const around = { turn, sightedRights: await loadSightedRights(trx, nameText) };
  const named = rows.map(namedDomain);
  // Of a name that waits, the claim that has the turn decides whose the zones around it are.
  const chosen = answeredDomain(named, { ...around, enclosing: 'none' });
  const account = rows.find(({ id }) => id === chosen?.id)?.accountId;
  const enclosing =
    chosen === undefined || account === undefined || isHolder(rows, chosen.id)
      ? 'none'
      : await loadEnclosing(trx, nameText, account);
  const answered = answeredDomain(named, { ...around, enclosing });
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
  /** A check missed its set, and none has seen it since. */
  readonly hasMissed: boolean;
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
    select id, account_id as "accountId", zone_id as "zoneId", status, dns_mode as "dnsMode", leaving, open,
      not by_operator and ns_sets is not null and exists (
        select from ns_sightings s where s.name = domains.name and not (s.names <@ array(
          select jsonb_array_elements_text(e.one -> 'names') from jsonb_array_elements(ns_sets) e (one)))) as "othersSighted",
      status = 'moved' or exists (
        select from domain_checks c where c.domain_id = domains.id and c.miss_count > 0) as "hasMissed",
      ns_sets as "nsSets", delegated_ns as "delegatedNs", chosen_ns as "chosenNs", lent_ns as "lentNs",
      turn_asked_at as "turnAskedAt", turn_from as "turnFrom", turn_until as "turnUntil", clock_timestamp() as now
    from domains where name = ${nameText} and deleted_at is null order by id`.execute(trx);
  return rows;
}

function namedDomain({ id, accountId, open, othersSighted, ...row }: NamedRow): NamedDomain {
  return { id, accountId, open, othersSighted, stage: stageOf(row), hasTxt: false };
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
 * Lends the apex of the domain that holds the name to the claim that has the turn: registries that look before they delegate
 * must see its set. All names lead to the same nodes, so nothing breaks.
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

/** Gives the claim that has the turn. */
async function settleTurn(trx: Database, rows: readonly NamedRow[]): Promise<number | undefined> {
  const waiting = rows.filter((row) => stageOf(row) === 'waiting');
  const [first] = waiting;
  if (first === undefined || waiting.length === 1) return first?.id;
  const now = first.now.getTime();
  const next = nextTurn(
    waiting.map(({ id, turnAskedAt, turnFrom, turnUntil }) => ({
      id,
      hasTxt: false,
      askedAt: turnAskedAt?.getTime(),
      turn: turnFrom && turnUntil ? { from: turnFrom.getTime(), until: turnUntil.getTime() } : undefined,
    })),
    now,
  );
  if (next?.isNew)
    await sql`
      update domains set turn_from = ${new Date(next.turn.from)}, turn_until = ${new Date(next.turn.until)},
        turn_asked_at = null where id = ${next.id}`.execute(trx);
  const isOver = next !== undefined && next.turn.until <= now;
  // The next in line gets its turn from the check that comes when this one's is over.
  if (next !== undefined && !isOver)
    await sql`
      update domain_checks set due_at = least(due_at, ${new Date(next.turn.until)})
      where domain_id = any(${waiting.map(({ id }) => id)}::bigint[]) and due_at is not null and exists (
        select from domains where id = any(${waiting.map(({ id }) => id)}::bigint[]) and turn_asked_at is not null)`.execute(
      trx,
    );
  return next?.id;
}

/** The accounts with the right to a set of which the parent showed a name here. */
async function loadSightedRights(trx: Database, nameText: string): Promise<number[]> {
  const { rows } = await sql<{ accountId: number }>`
    select distinct r.account_id as "accountId" from ns_rights r
    where r.name = ${nameText} and exists (
      select from ns_sightings s where s.name = r.name and s.names && r.names)`.execute(trx);
  return rows.map(({ accountId }) => accountId);
}

/** What is answered around the name for other accounts: a whole zone above it, or claims above or below it. */
async function loadEnclosing(
  trx: Database,
  nameText: string,
  accountId: number,
): Promise<'full' | 'apex' | 'none'> {
  const others = sql`d.account_id <> ${accountId} and d.deleted_at is null
    and (d.leaving or d.dns_mode = 'managed' and d.status in ('pending', 'active', 'moved'))`;
  const { rows } = await sql<{ isWhole: boolean; isAny: boolean }>`
    select coalesce(bool_or(a.served = 'full'), false) as "isWhole",
      count(*) > 0 or exists (select from domains d where ${isBelow(nameText)} and ${others}) as "isAny"
    from (select d.served from domains d where d.name = any(${namesAbove(nameText)}::text[]) and ${others}) a`.execute(
    trx,
  );
  const [row] = rows;
  return row?.isWhole ? 'full' : row?.isAny ? 'apex' : 'none';
}

/** Gives the name's zone to the domain that is answered. Not answered: an operator zone has the name. */
async function passZone(
  trx: Database,
  nameText: string,
  before: NamedRow | undefined,
  answered: AnsweredDomain,
): Promise<SettledName> {
  // Rows of domains before that of their zone, as every writer locks them (lock-domain.ts).
  const ids = [answered.id, ...(before === undefined ? [] : [before.id])];
  await sql`select from domains where id = any(${ids}::bigint[]) order by id for update`.execute(trx);
  const zone = (await lockZones(trx, [nameText], true)).get(nameText) as LockedZone;
  if (zone.kind === 'operator' && !zone.deleted) return { answered: undefined, moved: [] };
  if (before !== undefined)
    await sql`update domains set zone_id = null, served = 'none', lent_ns = null where id = ${before.id}`.execute(
      trx,
    );
  // Seen from outside it is one zone, and its serial only grows, whoever has it.
  await sql`
    update domains set zone_id = ${zone.id}, served = 'none', serial = coalesce(greatest(
      nullif(serial, ${BEFORE_FIRST_SERIAL}), (
        select max(d.serial) from domains d where d.name = ${nameText} and d.id <> ${answered.id})), serial)
    where id = ${answered.id}`.execute(trx);
  await sql`update zones set kind = 'domain' where id = ${zone.id}`.execute(trx);
  return { answered, moved: [...(before === undefined ? [] : [before.id]), answered.id] };
}
