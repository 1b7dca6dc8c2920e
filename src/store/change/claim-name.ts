// Decides who may claim a name (docs/rules.md "Domain names", "Claims"). A waiting claim does not exclude others. The
// caller holds `lockNamesAround`.

import { type RawBuilder, sql } from 'kysely';
import { mayClaim, type Rival } from '../../checks/claims/may-claim.ts';
import { isWithin, type Name } from '../../dns/name.ts';
import { allOurNameservers, type PublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

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

export async function claimName(trx: Database, claim: Claim, loaded?: ClaimedName): Promise<Claimed> {
  const taken = (message: string): Claimed => ({ kind: 'taken', message });
  const { nameText, accountId, exempt, transfer, needsPlace = !exempt } = claim;
  const shown = nameText.slice(0, -1);
  const name = loaded ?? (await loadClaimed(trx, claim));
  const reserved = whyReserved(claim, name);
  const rivals = name.rivals.filter(({ id }) => id !== claim.domainId);
  const may = mayClaim(rivals, { accountId, transfer, needsPlace, at: name.nowMs });
  if (may.kind === 'own') return taken(`this account already has a domain ${shown}`);
  if (may.kind === 'banned') return taken(`${shown} is banned here`);
  if (may.kind === 'held')
    return taken(
      `${shown} is already registered here: with "transfer": true the new domain waits, and becomes yours when its parent zone shows your nameservers`,
    );
  if (reserved !== undefined) return taken(reserved);
  if (may.kind === 'yes')
    return { kind: 'claimed', serial: name.highestSerial ?? undefined, displaced: may.displaced };
  const { retryAfterSeconds } = may;
  return {
    kind: 'full',
    message: `the maximum number of accounts already wait for ${shown}`,
    retryAfterSeconds,
  };
}

/** Data about a name on which `claimName` decides. */
export interface ClaimedName {
  readonly rivals: readonly Rival[];
  readonly nowMs: number;
  /** The highest serial of this name over all accounts. To secondaries it is one zone, whose serial must only grow. */
  readonly highestSerial: number | null;
  readonly isZone: boolean;
  readonly isAroundZone: boolean;
}

async function loadClaimed(trx: Database, { nameText, accountId, exempt }: Claim): Promise<ClaimedName> {
  const { rows } = await sql<ClaimedName>`
    select ${claimedColumns({ exempt })} from ${askedName(nameText, accountId)}`.execute(trx);
  return rows[0] as ClaimedName;
}

/**
 * Returns a table `n` with one row: the account, the name, the names above it, and the bounds of those below it. Postgres
 * does not see the values when it plans, so the plan of a prepared statement suits all names.
 */
export function askedName(nameText: string, accountId: number): RawBuilder<unknown> {
  const { start, end, dot } = boundsBelow(nameText);
  return sql`(select ${nameText}::text collate "C" as name, ${namesAbove(nameText)}::text[] collate "C" as above,
    ${start}::text as below, ${end}::text as below_end, ${dot}::integer as below_dot,
    ${accountId}::bigint as account_id offset 0) n`;
}

const BELOW_ASKED = isWithinBounds({ start: sql`n.below`, end: sql`n.below_end`, dot: sql`n.below_dot` });

/** Selects `ClaimedName` for the name `n`. */
export function claimedColumns({ exempt }: Pick<Claim, 'exempt'>): RawBuilder<ClaimedName> {
  return sql`(
      select coalesce(json_agg(json_build_object('id', d.id, 'accountId', d.account_id,
        'stage', case when d.status in ('pending', 'unverified') and not d.leaving then 'waiting'
          when d.leaving or d.status in ('active', 'moved') then 'held' else 'off' end,
        'isNameBanned', d.status = 'banned' and d.banned_name,
        'claimedAt', extract(epoch from coalesce(d.claimed_at, d.created_at)) * 1000,
        'isShown', coalesce(c.conclusive_ours, false)) order by d.id), '[]')
      from domains d join domain_checks c on c.domain_id = d.id
      where d.name = n.name and d.deleted_at is null) as rivals,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
    (select max(d.serial) from domains d where d.name = n.name) as "highestSerial",
    ${IS_OPERATOR_ZONE} as "isZone", ${exempt ? sql`false` : HAS_OPERATOR_ZONE_AROUND} as "isAroundZone"`;
}

function whyReserved(
  { nameText, exempt, settings }: Claim,
  { isZone, isAroundZone }: Pick<ClaimedName, 'isZone' | 'isAroundZone'>,
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
const IS_OPERATOR_ZONE = sql`(exists (select from zones d where d.name = n.name and ${IS_OPERATORS})
  or exists (select from secondaries s where s.zone_name = n.name))`;

const HAS_OPERATOR_ZONE_AROUND = sql`(
  exists (select from zones d where d.name = any(n.above || n.name || '.'::text) and ${IS_OPERATORS})
  or exists (select from zones d where ${BELOW_ASKED} and ${IS_OPERATORS})
  or exists (select from secondaries s where s.zone_name = any(n.above || n.name || '.'::text))
  or exists (select from (select zone_name as name from secondaries where zone_name is not null) d where ${BELOW_ASKED}))`;

/** True if a domain has a name above or below the name `n`. */
export const HAS_DOMAINS_AROUND = sql<boolean>`(
  exists (select from domains d where d.name = any(n.above) and d.deleted_at is null)
  or exists (select from domains d where ${BELOW_ASKED} and d.deleted_at is null))`;

export function namesAbove(nameText: string): string[] {
  const labels = nameText.slice(0, -1).split('.');
  return labels.slice(1).map((_, i) => `${labels.slice(i + 1).join('.')}.`);
}

/** Selects names `d.name` below the given one. */
export function isBelow(nameText: string): RawBuilder<unknown> {
  const { start, end, dot } = boundsBelow(nameText);
  return isWithinBounds({ start: sql`${start}`, end: sql`${end}`, dot: sql`${dot}::integer` });
}

/** Returns the bounds of the reversed names below a name, and the length of the end that they share. */
function boundsBelow(nameText: string): { start: string; end: string; dot: number } {
  const start = [...`.${nameText}`].reverse().join('');
  // Names are ASCII, so every name with this prefix is below this bound.
  return { start, end: `${start}\x7f`, dot: start.length };
}

/** A dot within a label is escaped with a backslash. */
function isWithinBounds({
  start,
  end,
  dot,
}: Record<'start' | 'end' | 'dot', RawBuilder<unknown>>): RawBuilder<unknown> {
  return sql`reverse(d.name) collate "C" > ${start} and reverse(d.name) collate "C" < ${end}
    and substr(d.name, length(d.name) - ${dot}, 1) <> '\\'`;
}
