// Loads a domain for a verification, in external mode or as it waits in managed mode, and which of our own answers prove
// anything about it.

import { sql } from 'kysely';
import { nameserversOf } from '../../checks/txt/judge-txt.ts';
import type { PreparationState } from '../../checks/txt/next-preparation.ts';
import type { VerificationState } from '../../checks/txt/next-verification.ts';
import type { TxtLink } from '../../checks/txt/txt-evidence.ts';
import { foldCase, type Name, parentOf, ROOT } from '../../dns/name.ts';
import { challengeOf } from '../../zone/domain/challenge-name.ts';
import type { DnsMode } from '../../zone/domain/domain-status.ts';
import { allOurNameservers, decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

export interface VerifiedDomain {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
  readonly dnsMode: DnsMode;
  /** The name of its TXT record, and the value that it must have. */
  readonly host: Name;
  readonly value: string;
  /** `saveVerification` compares this number: every verification saved meanwhile has counted it up. */
  readonly seq: number;
  readonly state: VerificationState & PreparationState;
  /** In external mode: another account's domain that has the name by its TXT record. */
  readonly holder: TxtHolder | undefined;
  /** Since when the value is there and the holder's is not, in milliseconds since 1970. */
  readonly takeoverSeenAt: number | undefined;
  /** When the name changed hands within a day. */
  readonly takeovers: readonly number[];
  /** The zone that delegates the domain, as far as known; as in its column. */
  readonly parentText: string;
  /** The planned time of the next verification: a verification changes it, a claim does not. */
  readonly nextAt: number | undefined;
  /** All our nameservers, folded. */
  readonly ownServers: ReadonlySet<Name>;
}

export interface TxtHolder {
  readonly id: number;
  readonly value: string;
}

/**
 * Selects domains `d` with the verification `v` whose TXT record is looked for: those in external mode that are to be
 * proved, and claims that were offered it.
 */
export const IS_TO_BE_VERIFIED = sql<boolean>`(d.deleted_at is null
  and (d.status = 'unverified' and d.dns_mode = 'external'
    or d.status = 'pending' and d.dns_mode = 'managed' and v.offered))`;

/** The domain `h` has its name by a TXT record alone: the parent's word is stronger. */
export const HOLDS_BY_TXT = sql<boolean>`(h.status = 'active' and h.dns_mode = 'external' and not h.leaving)`;

const TXT_HOLDER = sql`(
  select json_build_object('id', h.id, 'value', w.value) from domains h join domain_verifications w on w.domain_id = h.id
  where h.name = d.name and h.id <> d.id and h.deleted_at is null and ${HOLDS_BY_TXT} and d.dns_mode = 'external' limit 1)`;

/** Locks the domain's row, and no more: the row of its verification is written after it. */
export async function lockVerified(trx: Database, domainId: number): Promise<void> {
  await sql`select from domains where id = ${domainId} for no key update`.execute(trx);
}

/** Undefined: the domain is gone, proved, or in a status that no TXT record changes. */
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
 * The nameservers whose answers prove nothing here: ours, when the zone that they answer from is a mere claim. Anyone
 * may claim a name and put any record there, and when a domain's old delegation still leads to us, our servers are
 * asked for it, by any names: the SOA tells. Our answers are proof where the zone is an operator zone, or belongs to a
 * customer to whom it is delegated.
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

/** Whether the zone is proved from which our nodes answer a name: the deepest that they serve. */
async function isProved(db: Database, host: Name): Promise<boolean> {
  const names = [encodeNameColumn(host)];
  for (let name = host; name !== ROOT; names.push(encodeNameColumn(name))) name = parentOf(name);
  const { rows } = await sql<{ isProved: boolean }>`
    select z.kind = 'operator' or exists (
      select from domains d where d.zone_id = z.id and d.status in ('active', 'moved') and d.dns_mode = 'managed'
        and d.served = 'full') as "isProved"
    from zones z where z.name = any((select ${names}::text[])::text[]) and z.deleted_at is null
    order by length(z.name) desc limit 1`.execute(db);
  return rows[0]?.isProved ?? false;
}
