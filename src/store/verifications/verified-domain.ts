// Claims and loads a domain for a verification, in external mode or while it waits in managed mode, and determines
// which answers of the fleet itself prove anything about it.

import { sql } from 'kysely';
import { nameserversOf } from '../../checks/txt/judge-txt.ts';
import type { PreparationState } from '../../checks/txt/next-preparation.ts';
import type { VerificationState } from '../../checks/txt/next-verification.ts';
import type { TxtLink } from '../../checks/txt/txt-evidence.ts';
import { foldCase, type Name, parentOf, ROOT } from '../../dns/name.ts';
import { challengeOf } from '../../zone/domain/challenge-name.ts';
import type { DnsMode } from '../../zone/domain/domain-status.ts';
import { setParts } from '../change/domain-parts.ts';
import { tokenColumns } from '../change/start-status.ts';
import { type ClaimedInTurns, claimInTurns, type DueClaim } from '../checks/check-shares.ts';
import { findingsWithout } from '../domains/domain-row.ts';
import { allOurNameservers, decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { IS_OWN_ZONE } from '../zones/load-zones.ts';

export interface VerifiedDomain {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
  readonly dnsMode: DnsMode;
  /** The name of the TXT record, and its required value. */
  readonly host: Name;
  readonly value: string;
  /** Compared by `saveVerification`. Every saved verification increments it. */
  readonly seq: number;
  readonly state: VerificationState & PreparationState;
  /** In external mode: another account's domain that has the name by its TXT record. */
  readonly holder: TxtHolder | undefined;
  /** Time since which the value is found but the holder's is not, in milliseconds since 1970. */
  readonly takeoverSeenAt: number | undefined;
  /** Times within the last day at which the name changed accounts. */
  readonly takeovers: readonly number[];
  /** The zone that delegates the domain, in stored form, as far as known. */
  readonly parentText: string;
  /** The scheduled time of the next verification. Verifications change it; claims do not. */
  readonly nextAt: number | undefined;
  /** All nameservers of the fleet, folded. */
  readonly ownServers: ReadonlySet<Name>;
}

export interface TxtHolder {
  readonly id: number;
  readonly value: string;
}

/**
 * Condition of domains `d` with a verification `v` whose TXT record is queried: those in external mode that are not
 * proved yet, and claims to which it was offered.
 */
export const IS_TO_BE_VERIFIED = sql<boolean>`(d.deleted_at is null
  and (d.status = 'unverified' and d.dns_mode = 'external'
    or d.status = 'pending' and d.dns_mode = 'managed' and v.offered))`;

/** Condition: the domain `h` has its name only by a TXT record. The parent's delegation takes precedence. */
export const HOLDS_BY_TXT = sql<boolean>`(h.status = 'active' and h.dns_mode = 'external' and not h.leaving)`;

const TXT_HOLDER = sql`(
  select json_build_object('id', h.id, 'value', w.value) from domains h join domain_verifications w on w.domain_id = h.id
  where h.name = d.name and h.id <> d.id and h.deleted_at is null and ${HOLDS_BY_TXT} and d.dns_mode = 'external' limit 1)`;

/** Locks only the domain's row. The verification's row is written after it. */
export async function lockVerified(trx: Database, domainId: number): Promise<void> {
  await sql`select from domains where id = ${domainId} for no key update`.execute(trx);
}

/** Returns undefined if the domain is deleted, proved, or in a status that a TXT record does not change. */
export async function loadVerifiedDomain(
  db: Database,
  domainId: number,
): Promise<VerifiedDomain | undefined> {
  const { rows } = await sql<VerifiedRow>`
    select d.id, d.account_id as "accountId", d.name, d.dns_mode as "dnsMode", v.seq, v.value, v.started_at as "startedAt",
      v.expires_at as "expiresAt", v.attempts, v.verified_at as "foundAt", v.takeover_seen_at as "takeoverSeenAt",
      v.next_at as "nextAt", c.parent as "parentText", ${TXT_HOLDER} as holder, ${SETTINGS_TEXT} as settings,
      (select coalesce(json_agg(extract(epoch from t.at) * 1000), '[]') from name_takeovers t
        where t.name = d.name and t.at > clock_timestamp() - interval '1 day') as takeovers
    from domains d join domain_verifications v on v.domain_id = d.id join domain_checks c on c.domain_id = d.id
    where d.id = ${domainId} and ${IS_TO_BE_VERIFIED}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { id, accountId, dnsMode, seq, value, startedAt, expiresAt, attempts, takeovers, parentText } = row;
  const name = decodeNameColumn(row.name);
  return {
    id,
    accountId,
    name,
    dnsMode,
    host: challengeOf(name),
    value,
    seq,
    state: {
      startedAt: startedAt.getTime(),
      expiresAt: expiresAt.getTime(),
      attempts,
      foundAt: row.foundAt?.getTime(),
    },
    holder: row.holder ?? undefined,
    takeoverSeenAt: row.takeoverSeenAt?.getTime(),
    takeovers,
    parentText,
    nextAt: row.nextAt?.getTime(),
    ownServers: new Set(allOurNameservers(decodePublishSettings(row.settings)).map(foldCase)),
  };
}

interface VerifiedRow {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly dnsMode: DnsMode;
  readonly seq: number;
  readonly value: string;
  readonly startedAt: Date;
  readonly expiresAt: Date;
  readonly attempts: number;
  readonly foundAt: Date | null;
  readonly takeoverSeenAt: Date | null;
  readonly nextAt: Date | null;
  readonly parentText: string;
  readonly holder: TxtHolder | null;
  readonly takeovers: readonly number[];
  readonly settings: string | null;
}

/**
 * Returns the nameservers whose answers prove nothing: the fleet's own, if the zone that they answer from is only
 * claimed. Anyone may claim a name and add any record, and a domain's old delegation may still point to the fleet. The
 * fleet's answers prove something only if the zone is an operator zone, or belongs to a customer to whom it is
 * delegated.
 */
export async function findUntrusted(
  db: Database,
  links: readonly TxtLink[],
  ownServers: ReadonlySet<Name>,
): Promise<ReadonlySet<Name>> {
  for (const link of links) {
    const isOurs = nameserversOf(link).some((server) => ownServers.has(foldCase(server)));
    if (isOurs && !(await isProved(db, link.host))) return ownServers;
  }
  return NONE;
}

const NONE: ReadonlySet<Name> = new Set();

/** Returns true if the zone from which the fleet's nodes answer a name (the deepest that they serve) is proved. */
async function isProved(db: Database, host: Name): Promise<boolean> {
  const names = [encodeNameColumn(host)];
  for (let name = host; name !== ROOT; names.push(encodeNameColumn(name))) name = parentOf(name);
  const { rows } = await sql<{ isProved: boolean }>`
    select ${IS_OWN_ZONE} or exists (
      select from domains d where d.zone_id = z.id and d.status in ('active', 'moved') and d.dns_mode = 'managed'
        and d.served = 'full') as "isProved"
    from zones z where z.name = any((select ${names}::text[])::text[]) and z.deleted_at is null
    order by length(z.name) desc limit 1`.execute(db);
  return rows[0]?.isProved ?? false;
}

/** Longer than a job waits in a full queue. */
const LEASE_SECONDS = 120;

/** Claims domains whose TXT record is due for a query, by account. Returns ids of domains. */
export function claimDueVerifications(db: Database, claim: DueClaim): Promise<ClaimedInTurns> {
  return claimInTurns(
    db,
    {
      table: sql`domain_verifications`,
      id: sql`domain_id`,
      join: sql`join domains d on d.id = v.domain_id`,
      isWanted: IS_TO_BE_VERIFIED,
      leaseSeconds: LEASE_SECONDS,
    },
    claim,
  );
}

/**
 * Creates a new value for a domain whose value has expired. The time to prove the domain does not restart. Only one of
 * several concurrent calls renews the value and returns true.
 */
export async function renewExpiredVerification(db: Database, domainId: number): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    await lockVerified(trx, domainId);
    const { rows } = await sql`
      select from domains d join domain_verifications v on v.domain_id = d.id
      where d.id = ${domainId} and ${IS_TO_BE_VERIFIED} and v.expires_at <= clock_timestamp()`.execute(trx);
    if (rows.length === 0) return false;
    const now = await currentTime(trx);
    await setParts(trx, domainId, {
      domain: { updated_at: now, findings: findingsWithout('TAKEOVER_WAITS') },
      verification: tokenColumns(now),
    });
    return true;
  });
}
