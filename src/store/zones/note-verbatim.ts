// Remembers of zones that others signed when their first signature ends, which operators watch: nobody here makes it anew.

import { sql } from 'kysely';
import { secondsBetween } from '../../dns/dnssec/signature-time.ts';
import { readSignature } from '../../dns/dnssec/signed-octets.ts';
import type { Name } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';

interface LoadedZone {
  readonly apex: Name;
  readonly records: Iterable<ZoneRecord>;
}

/** Zones that were loaded or, without records, unloaded; none of them is signed here. */
export async function noteVerbatim(trx: Database, zones: readonly LoadedZone[]): Promise<void> {
  if (zones.length === 0) return;
  const at = Math.floor((await currentTime(trx)).getTime() / 1000);
  const names: string[] = [];
  const signed: { name: string; endsAt: number }[] = [];
  for (const { apex, records } of zones) {
    const name = encodeNameColumn(apex);
    const endsAt = firstEnd(apex, records, at);
    names.push(name);
    if (endsAt !== undefined) signed.push({ name, endsAt });
  }
  const ended = names.filter((name) => !signed.some((one) => one.name === name));
  await sql`
    delete from signed_zones s where s.zone_name = any(${ended}::text[]) and s.verbatim
      and not exists (select from signing_keys k where k.signed_zone_id = s.id)`.execute(trx);
  // one that we signed once keeps its keys
  await sql`
    update signed_zones set verbatim = false, expires_at = null
    where zone_name = any(${ended}::text[]) and verbatim`.execute(trx);
  await sql`
    insert into signed_zones as s (zone_name, goal, denial, algorithm, phase, verbatim, expires_at)
    select n.name, 'unsigned', 'nsec', 13, 'off', true, to_timestamp(n."endsAt")
    from jsonb_to_recordset(${JSON.stringify(signed)}::jsonb) as n(name text, "endsAt" float8)
    on conflict (zone_name) do update set verbatim = true, expires_at = excluded.expires_at
      where s.phase = 'off'`.execute(trx);
}

/** In seconds since 1970; undefined: the zone is answered as unsigned. */
function firstEnd(apex: Name, records: Iterable<ZoneRecord>, at: number): number | undefined {
  let left = Number.POSITIVE_INFINITY;
  let isSigned = false;
  for (const { owner, type, rdata } of records) {
    if (type !== TYPE.RRSIG) continue;
    if (owner === apex && coveredType(rdata) === TYPE.SOA) isSigned = true;
    left = Math.min(left, secondsBetween(at, readSignature(rdata).expiration));
  }
  return isSigned ? at + left : undefined;
}
