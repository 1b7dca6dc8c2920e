// Who may have a name (spec §5 "Names"): decided under the lock of the names around it and of its zone's row.

import { sql } from 'kysely';
import { isWithin, type Name } from '../dns/name.ts';
import type { PublishSettings } from './answer-settings.ts';
import type { Database } from './database.ts';
import { decodeNameColumn } from './name-column.ts';
import { type LockedZone, lockZones } from './write-zone.ts';

export interface Claim {
  readonly nameText: string;
  readonly accountId: number;
  /** Names around operator zones and nameservers are this claimant's to take. */
  readonly exempt: boolean;
  readonly settings: PublishSettings;
}

export type Claimed =
  /** `serial`: the highest that anybody's zone of this name has had; undefined where it is new. */
  | { readonly kind: 'claimed'; readonly zone: LockedZone; readonly serial: number | undefined }
  | { readonly kind: 'taken'; readonly message: string };

/** Makes the zone's row the claimant's. The caller has `lockNamesAround`, and gives the zone a domain. */
export async function claimName(trx: Database, claim: Claim): Promise<Claimed> {
  const taken = (message: string): Claimed => ({ kind: 'taken', message });
  const { nameText, accountId, exempt, settings } = claim;
  const shown = nameText.slice(0, -1);
  const holder = await lockHolder(trx, nameText);
  if (holder !== undefined && !(holder.disabledBy === 'checker' && holder.accountId !== accountId)) {
    return taken(`${shown} is registered here already`);
  }
  if (await hasActiveDomainAround(trx, nameText, accountId)) {
    return taken(`${shown} lies inside or above a domain of another account`);
  }
  if (!exempt) {
    if (await hasOperatorZoneAround(trx, nameText)) return taken(`${shown} is reserved by the service`);
    const name = decodeNameColumn(nameText);
    if (settings.nameserverSets.flat().some((server) => isAround(name, server))) {
      return taken(`${shown} is reserved by the service: its nameservers are there`);
    }
  }
  const zone = (await lockZones(trx, [nameText], true)).get(nameText) as LockedZone;
  if (zone.kind === 'operator' && !zone.deleted) return taken(`${shown} is a zone of the service itself`);
  if (holder !== undefined) await dispossess(trx, holder.id);
  await sql`update zones set kind = 'domain' where id = ${zone.id}`.execute(trx);
  return { kind: 'claimed', zone, serial: await highestSerial(trx, nameText) };
}

/** Whoever had the name before: for those who look from outside it is one zone, and its serial only grows. */
async function highestSerial(trx: Database, nameText: string): Promise<number | undefined> {
  const { rows } = await sql<{ serial: number | null }>`
    select max(serial) as serial from domains where name = ${nameText}`.execute(trx);
  return rows[0]?.serial ?? undefined;
}

/** The zone's row is nobody's: an operator zone or another domain can have the name. */
export async function releaseName(trx: Database, zoneId: number): Promise<void> {
  await sql`update zones set kind = 'operator' where id = ${zoneId}`.execute(trx);
}

async function lockHolder(
  trx: Database,
  nameText: string,
): Promise<{ id: number; accountId: number; disabledBy: string | null } | undefined> {
  const { rows } = await sql<{ id: number; accountId: number; disabledBy: string | null }>`
    select id, account_id as "accountId", disabled_by as "disabledBy" from domains
    where name = ${nameText} and zone_id is not null for update`.execute(trx);
  return rows[0];
}

const CLAIM_LOST = JSON.stringify({
  code: 'CLAIM_LOST',
  message: 'Another account has registered this name since this domain was disabled.',
});

/** A domain that the checker disabled holds its name only until somebody else wants it. */
async function dispossess(trx: Database, domainId: number): Promise<void> {
  await sql`
    update domains set zone_id = null, findings = findings || jsonb_build_array(${CLAIM_LOST}::jsonb),
      updated_at = clock_timestamp()
    where id = ${domainId}`.execute(trx);
}

function isAround(a: Name, b: Name): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

async function hasActiveDomainAround(trx: Database, nameText: string, accountId: number): Promise<boolean> {
  const others = sql`d.zone_id is not null and d.account_id <> ${accountId} and d.status in ('active', 'moved')`;
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from domains d where d.name = any(${namesAbove(nameText)}::text[]) and ${others})
      or exists (select from domains d where ${isBelow(nameText)} and ${others}) as found`.execute(trx);
  return rows[0]?.found ?? false;
}

async function hasOperatorZoneAround(trx: Database, nameText: string): Promise<boolean> {
  const living = sql`d.kind = 'operator' and d.deleted_at is null`;
  const names = [nameText, ...namesAbove(nameText), '.'];
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from zones d where d.name = any(${names}::text[]) and ${living})
      or exists (select from zones d where ${isBelow(nameText)} and ${living}) as found`.execute(trx);
  return rows[0]?.found ?? false;
}

export function namesAbove(nameText: string): string[] {
  const labels = nameText.slice(0, -1).split('.');
  return labels.slice(1).map((_, i) => `${labels.slice(i + 1).join('.')}.`);
}

/** `d.name` lies below; a dot that belongs to a label has a backslash before it. */
export function isBelow(nameText: string): ReturnType<typeof sql> {
  const end = `.${nameText}`;
  const start = [...end].reverse().join('');
  // names are ASCII: nothing that starts so is beyond it
  return sql`reverse(d.name) collate "C" > ${start} and reverse(d.name) collate "C" < ${`${start}\x7f`}
    and substr(d.name, length(d.name) - ${end.length}::integer, 1) <> '\\'`;
}
