// Signed domains in a database as those who look from outside know them: what their records say without signatures, and the DS
// that their parents show.

import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import type { EnableOrder } from '../../../src/store/signing/enable-signing.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { dsOf } from '../dnssec/signing.ts';
import { edit } from '../zone/customer-records.ts';
import { zoneOfRecords } from '../zone/sign-zone.ts';
import { newDomain, saved } from './domains.ts';
import { enabled } from './signed-zones.ts';

export interface SignedDomain {
  readonly id: number;
  /** Presentation form, with the final dot. */
  readonly apex: string;
  /** A DS record for each key that the parent shall know, as in a zone file. */
  readonly ds: string;
}

const MADE: readonly number[] = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM];

/** With records of each kind that an answer can have. */
export async function newSignedDomain(
  db: Database,
  accountId: number,
  apex: string,
  order: Partial<EnableOrder> = {},
): Promise<SignedDomain> {
  const { id } = await newDomain(db, accountId, apex);
  await saved(db, id, edit({ create: recordLines(apex) }, parseName(apex)));
  await enabled(db, { domainId: id }, order);
  return { id, apex, ds: dsLinesOf(apex, await recordsOfZone(db, apex)) };
}

function recordLines(apex: string): string[] {
  return [
    '@ A 192.0.2.1',
    '@ MX 10 mail.example.net',
    'www A 192.0.2.2',
    'www AAAA 2001:db8::2',
    'proxied A 192.0.2.3 ; proxied',
    'a.b.c.deep TXT deep',
    '* TXT wild',
    '*.cards A 192.0.2.4',
    'here.cards TXT here',
    `alias CNAME www.${apex.slice(0, -1)}`,
    'sub NS ns.else.example.net',
  ];
}

export async function recordsOfZone(db: Database, apex: string): Promise<readonly ZoneRecord[]> {
  const zone = await loadZone(db, parseName(apex));
  if (zone === undefined) throw new Error(`${apex} is not served`);
  return zone.records;
}

/** What is served of it but signatures and denials. */
export async function unsignedZone(db: Database, apex: string): Promise<Zone> {
  const records = await recordsOfZone(db, apex);
  return zoneOfRecords(
    parseName(apex),
    records.filter(({ type }) => !MADE.includes(type)),
  );
}

const SEP = 1;

function dsLinesOf(apex: string, records: readonly ZoneRecord[]): string {
  const name = parseName(apex);
  return records
    .filter(({ type, rdata }) => type === TYPE.DNSKEY && ((rdata[1] as number) & SEP) !== 0)
    .map(({ rdata }) => dsOf(name, { rdata, tag: keyTag(rdata), algorithm: rdata[3] as number }))
    .map((ds) => `${printName(name)} IN DS ${printRdata(TYPE.DS, ds)}`)
    .join('\n');
}
