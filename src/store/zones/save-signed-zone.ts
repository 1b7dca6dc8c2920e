// Loads an operator zone that the fleet signs. Its file contains no signer records, and its serial need not increase.

import { sql } from 'kysely';
import { foldCase, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { laterSerial, serialIn, withSerial } from '../../zone/serial.ts';
import { isSignal } from '../../zone/signing/signals.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { readWhole } from '../keys/read-zone-rows.ts';
import { signChange } from '../keys/sign-change.ts';
import type { SignedZone } from '../keys/signed-zone.ts';
import { isOfSigner } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { type ChangedZone, changedZone, type LockedZone, writeDifference } from './write-zone.ts';
import { chunksOfOwners } from './zone-rows.ts';

interface LoadedZone {
  readonly apex: Name;
  readonly records: readonly ZoneRecord[];
  readonly signed: SignedZone;
  readonly now: Date;
}

/** Writes the differences. Returns undefined if there are none. */
export async function saveSignedZone(
  trx: Database,
  zone: LockedZone,
  { apex, records, signed, now }: LoadedZone,
): Promise<ChangedZone | undefined> {
  const present = zone.deleted ? [] : await readWhole(trx, zone.id);
  const loaded = records.find(({ owner, type }) => owner === apex && type === TYPE.SOA) as ZoneRecord;
  const isSame = isSameContent(apex, present, records) && (await isLoadedSoa(trx, signed.id, loaded));
  if (isSame && !zone.deleted) return undefined;
  const served = present.find(({ type }) => type === TYPE.SOA);
  const serial = laterSerial(serialIn(loaded.rdata), served && serialIn(served.rdata));
  const wanted = new Map<Name, ZoneRecord[]>();
  // Signals for domains are not part of the file.
  for (const record of [...records, ...present.filter((each) => isSignal(apex, each))]) {
    const one = record === loaded ? { ...record, rdata: withSerial(record.rdata, serial) } : record;
    const same = wanted.get(record.owner);
    if (same === undefined) wanted.set(record.owner, [one]);
    else same.push(one);
  }
  const owners = await signChange(trx, { zoneId: zone.id, apex, signed, now, wanted, isWhole: true });
  let count = zone.records;
  for (const chunk of chunksOfOwners(zone, apex, owners))
    count += (await writeDifference(trx, chunk)).get(zone.id) ?? 0;
  await sql`
    update signed_zones set loaded_soa = ${Buffer.from(loaded.rdata)} where id = ${signed.id}`.execute(trx);
  return changedZone(zone, count);
}

/** Compares without the SOA and the signer's records. */
function isSameContent(apex: Name, present: readonly ZoneRecord[], loaded: readonly ZoneRecord[]): boolean {
  const keysOf = (records: readonly ZoneRecord[]) =>
    new Set(
      records
        .filter((each) => each.type !== TYPE.SOA && !isOfSigner(apex, each) && !isSignal(apex, each))
        .map(
          ({ owner, type, ttl, rdata }) =>
            `${foldCase(owner)} ${type} ${ttl} ${Buffer.from(rdata).toString('base64')}`,
        ),
    );
  const [there, wanted] = [keysOf(present), keysOf(loaded)];
  return there.size === wanted.size && [...wanted].every((key) => there.has(key));
}

/** Compares with the SOA of the loaded file, because the served one has the fleet's serial. */
async function isLoadedSoa(trx: Database, signedZoneId: number, { rdata }: ZoneRecord): Promise<boolean> {
  const { rows } = await sql<{ same: boolean }>`
    select coalesce(loaded_soa = ${Buffer.from(rdata)}, false) as same from signed_zones
    where id = ${signedZoneId}`.execute(trx);
  return rows[0]?.same === true;
}
