// Decides who may have a name (docs/rules.md "Domain names"), under the lock of the names around it and of its zone's
// row.

import { sql } from 'kysely';
import { isWithin, type Name } from '../../dns/name.ts';
import { allOurNameservers, type PublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { type LockedZone, lockZones } from '../zones/write-zone.ts';
import { loseClaim } from './lose-claim.ts';
import { hasActiveDomainAround, isBelow, namesAbove } from './names-around.ts';

/** How long a claim keeps its name from other accounts while our servers are not seen at the parent. */
const CLAIM_HOURS = 72;

interface Claim {
  readonly nameText: string;
  readonly accountId: number;
  /** The claimant may take names around operator zones and nameservers. */
  readonly exempt: boolean;
  /** The domain is new: a stale claim of another account gives way to it. */
  readonly isNew: boolean;
  readonly settings: PublishSettings;
}

export type Claimed =
  /** `serial`: the highest serial that any zone of this name has had; undefined for a new name. */
  | { readonly kind: 'claimed'; readonly zone: LockedZone; readonly serial: number | undefined }
  | { readonly kind: 'taken'; readonly message: string };

/** Gives the zone's row to the claimant. The caller holds `lockNamesAround`, and gives the zone a domain. */
export async function claimName(trx: Database, claim: Claim): Promise<Claimed> {
  const taken = (message: string): Claimed => ({ kind: 'taken', message });
  const { nameText, accountId, exempt, isNew, settings } = claim;
  const shown = nameText.slice(0, -1);
  const holder = await lockHolder(trx, nameText);
  if (holder !== undefined && !(holder.accountId !== accountId && yieldsTo(isNew, holder))) {
    return taken(`${shown} is registered here already`);
  }
  if (await hasActiveDomainAround(trx, nameText, accountId)) {
    return taken(`${shown} lies inside or above a domain of another account`);
  }
  if (!exempt) {
    if (await hasOperatorZoneAround(trx, nameText)) return taken(`${shown} is reserved by the service`);
    const name = decodeNameColumn(nameText);
    if (allOurNameservers(settings).some((server) => isAround(name, server))) {
      return taken(`${shown} is reserved by the service: its nameservers are there`);
    }
  }
  const zone = (await lockZones(trx, [nameText], true)).get(nameText) as LockedZone;
  if (zone.kind === 'operator' && !zone.deleted) return taken(`${shown} is a zone of the service itself`);
  if (holder !== undefined) await loseClaim(trx, holder.id);
  await sql`update zones set kind = 'domain' where id = ${zone.id}`.execute(trx);
  return { kind: 'claimed', zone, serial: await highestSerial(trx, nameText) };
}

/** The highest serial of this name, whoever had it: seen from outside it is one zone, and its serial only grows. */
async function highestSerial(trx: Database, nameText: string): Promise<number | undefined> {
  const { rows } = await sql<{ serial: number | null }>`
    select max(serial) as serial from domains where name = ${nameText}`.execute(trx);
  return rows[0]?.serial ?? undefined;
}

interface Holder {
  readonly id: number;
  readonly accountId: number;
  readonly disabledBy: 'operator' | 'checker' | null;
  /** The claim is old and was never proved: neither our servers at the parent nor its TXT record were seen. */
  readonly isStale: boolean;
}

/** A domain that the checker disabled holds its name only until another account wants it. */
function yieldsTo(isNew: boolean, { disabledBy, isStale }: Holder): boolean {
  return disabledBy === 'checker' || (isNew && isStale);
}

/**
 * Locks the holder. The age of a claim comes from the log: changing between the modes does not renew it. The row of its
 * checks is locked too: one that is being saved may have seen our servers.
 */
async function lockHolder(trx: Database, nameText: string): Promise<Holder | undefined> {
  const begun = sql`(
    select max(c.at) from domain_changes c
    where c.domain_id = d.id and c.status_to in ('pending', 'unverified')
      and coalesce(c.status_from, '') not in ('pending', 'unverified'))`;
  const locked = await sql<{ id: number }>`
    select id from domains where name = ${nameText} and zone_id is not null for update`.execute(trx);
  const [holder] = locked.rows;
  if (holder === undefined) return undefined;
  const { rows } = await sql<Holder>`
    select d.id, d.account_id as "accountId", d.disabled_by as "disabledBy",
      d.status in ('pending', 'unverified') and c.ours_at is null and v.verified_at is null
        and least(coalesce(d.pending_since, v.started_at), ${begun})
          < clock_timestamp() - make_interval(hours => ${CLAIM_HOURS}::integer) as "isStale"
    from domains d join domain_checks c on c.domain_id = d.id left join domain_verifications v on v.domain_id = d.id
    where d.id = ${holder.id} for no key update of c`.execute(trx);
  return rows[0];
}

function isAround(a: Name, b: Name): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

async function hasOperatorZoneAround(trx: Database, nameText: string): Promise<boolean> {
  const living = sql`d.kind = 'operator' and d.deleted_at is null`;
  const names = [nameText, ...namesAbove(nameText), '.'];
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from zones d where d.name = any(${names}::text[]) and ${living})
      or exists (select from zones d where ${isBelow(nameText)} and ${living}) as found`.execute(trx);
  return rows[0]?.found ?? false;
}
