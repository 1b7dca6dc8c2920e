// Decides who may claim a name (docs/rules.md "Domain names", "Claims"). A waiting claim does not exclude others. The
// caller holds `lockNamesAround`.

import { sql } from 'kysely';
import { mayClaim, type Rival } from '../../checks/claims/may-claim.ts';
import { isWithin, type Name } from '../../dns/name.ts';
import { allOurNameservers, type PublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inOneTrip } from '../postgres/pool-driver.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';

interface Claim {
  readonly nameText: string;
  readonly accountId: number;
  /** The claimant may take names around operator zones and nameservers. */
  readonly exempt: boolean;
  /** The claim needs a slot among those that wait. Defaults to true unless the claim is exempt. */
  readonly needsPlace?: boolean;
  /** The claim may wait for a name that another account holds. */
  readonly transfer: boolean;
  /** The claiming domain; undefined if it is new. */
  readonly domainId?: number;
  readonly settings: PublishSettings;
}

type Claimed =
  | {
      readonly kind: 'claimed';
      /** The highest serial that any zone of this name has had; undefined for a new name. */
      readonly serial: number | undefined;
      /** The claim that gives up its slot for this one. */
      readonly displaced: number | undefined;
    }
  | { readonly kind: 'taken'; readonly message: string }
  /** Seconds until a slot may become free. */
  | { readonly kind: 'full'; readonly message: string; readonly retryAfterSeconds: number };

export async function claimName(
  trx: Database,
  claim: Claim,
  loaded?: Awaited<ReturnType<typeof loadClaimed>>,
): Promise<Claimed> {
  const taken = (message: string): Claimed => ({ kind: 'taken', message });
  const { nameText, accountId, exempt, transfer, needsPlace = !exempt } = claim;
  const shown = nameText.slice(0, -1);
  const { rows, serial, ...operators } = loaded ?? (await loadClaimed(trx, claim));
  const reserved = whyReserved(claim, operators);
  const rivals = rows.filter(({ id }) => id !== claim.domainId);
  const may = mayClaim(rivals, { accountId, transfer, needsPlace, at: rows[0]?.nowMs ?? 0 });
  if (may.kind === 'own') return taken(`this account already has a domain ${shown}`);
  if (may.kind === 'banned') return taken(`${shown} is banned here`);
  if (may.kind === 'held')
    return taken(
      `${shown} is already registered here: with "transfer": true the new domain waits, and becomes yours when its parent zone shows your nameservers`,
    );
  if (reserved !== undefined) return taken(reserved);
  if (may.kind === 'yes') return { kind: 'claimed', serial, displaced: may.displaced };
  const { retryAfterSeconds } = may;
  return {
    kind: 'full',
    message: `the maximum number of accounts already wait for ${shown}`,
    retryAfterSeconds,
  };
}

/** Loads what `claimName` decides on. */
export async function loadClaimed(trx: Database, { nameText, exempt }: Pick<Claim, 'nameText' | 'exempt'>) {
  const trip = inOneTrip(trx);
  const [rows, serial, isZone, isAroundZone] = await Promise.all([
    loadRivals(trip, nameText),
    highestSerial(trip, nameText),
    isOperatorZone(trip, nameText),
    exempt ? false : hasOperatorZoneAround(trip, nameText),
  ]);
  return { rows, serial, isZone, isAroundZone };
}

async function loadRivals(
  trx: Database,
  nameText: string,
): Promise<readonly (Rival & { readonly nowMs: number })[]> {
  const { rows } = await sql<Rival & { readonly nowMs: number }>`
    select d.id, d.account_id as "accountId",
      case when d.status in ('pending', 'unverified') and not d.leaving then 'waiting'
        when d.leaving or d.status in ('active', 'moved') then 'held' else 'off' end as stage,
      d.status = 'banned' and d.banned_name as "isNameBanned",
      (extract(epoch from coalesce(d.claimed_at, d.created_at)) * 1000)::float8 as "claimedAt",
      coalesce(c.conclusive_ours, false) as "isShown",
      (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
    from domains d join domain_checks c on c.domain_id = d.id
    where d.name = ${nameText} and d.deleted_at is null order by d.id`.execute(trx);
  return rows;
}

/** Returns the highest serial of this name over all accounts. To secondaries it is one zone, whose serial must only grow. */
async function highestSerial(trx: Database, nameText: string): Promise<number | undefined> {
  const { rows } = await sql<{ serial: number | null }>`
    select max(serial) as serial from domains where name = ${nameText}`.execute(trx);
  return rows[0]?.serial ?? undefined;
}

function whyReserved(
  { nameText, exempt, settings }: Claim,
  { isZone, isAroundZone }: { readonly isZone: boolean; readonly isAroundZone: boolean },
): string | undefined {
  const shown = nameText.slice(0, -1);
  if (isZone) return `${shown} is a zone of the service itself`;
  if (exempt) return undefined;
  if (isAroundZone) return `${shown} is reserved by the service`;
  const name = decodeNameColumn(nameText);
  if (allOurNameservers(settings).some((server) => isAround(name, server)))
    return `${shown} is reserved by the service for its nameservers`;
  return undefined;
}

function isAround(a: Name, b: Name): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

const IS_OPERATORS = sql`d.kind = 'operator' and d.deleted_at is null`;

/** A copy is an operator zone even before its first transfer. */
async function isOperatorZone(trx: Database, nameText: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from zones d where d.name = ${nameText} and ${IS_OPERATORS})
      or exists (select from secondaries s where s.zone_name = ${nameText}) as found`.execute(trx);
  return rows[0]?.found ?? false;
}

async function hasOperatorZoneAround(trx: Database, nameText: string): Promise<boolean> {
  const names = [nameText, ...namesAbove(nameText), '.'];
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from zones d where d.name = any(${names}::text[]) and ${IS_OPERATORS})
      or exists (select from zones d where ${isBelow(nameText)} and ${IS_OPERATORS})
      or exists (select from secondaries s where s.zone_name = any(${names}::text[]))
      or exists (select from (select zone_name as name from secondaries where zone_name is not null) d
        where ${isBelow(nameText)}) as found`.execute(trx);
  return rows[0]?.found ?? false;
}

/** Returns true if a domain has a name above or below this one. */
export async function hasDomainsAround(trx: Database, nameText: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from domains d where d.name = any(${arrayOf('text', namesAbove(nameText))}::text[]) and d.deleted_at is null)
      or exists (select from domains d where ${isBelow(nameText)} and d.deleted_at is null) as found`.execute(
    trx,
  );
  return rows[0]?.found ?? true;
}

export function namesAbove(nameText: string): string[] {
  const labels = nameText.slice(0, -1).split('.');
  return labels.slice(1).map((_, i) => `${labels.slice(i + 1).join('.')}.`);
}

/** Selects names `d.name` below the given one; a dot within a label is escaped with a backslash. */
export function isBelow(nameText: string): ReturnType<typeof sql> {
  const end = `.${nameText}`;
  const start = [...end].reverse().join('');
  // Names are ASCII, so every name with this prefix is below this bound.
  return sql`reverse(d.name) collate "C" > ${start} and reverse(d.name) collate "C" < ${`${start}\x7f`}
    and substr(d.name, length(d.name) - ${end.length}::integer, 1) <> '\\'`;
}
