// Signs zone files with Zonefleet's signer and a given key set, like whole zones that are signed for the first time.

import { parseName, printName, ROOT } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { DenialKind } from '../../../src/zone/signing/signed-types.ts';
import { recordsByOwner } from '../../../src/zone/signing/standing.ts';
import { isMark, markOf, type ZoneRecord } from '../../../src/zone/zone.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { SignedRows } from './signed-rows.ts';
import { dsOf } from './signing.ts';
import type { SignedText } from './signing-programs.ts';
import { dnskeyRecords, type KeySetting } from './zone-keys.ts';

interface OurStyle {
  readonly denial: DenialKind;
  readonly setting: KeySetting;
  /** Marked names, below the apex. */
  readonly marks?: readonly string[];
}

export interface OurZone extends SignedText {
  /** Includes marks, which text cannot express. */
  readonly records: readonly ZoneRecord[];
}

export function signAsOurs(
  { denial, setting, marks = [] }: OurStyle,
  { apex: text, text: lines }: ZoneText,
): OurZone {
  const apex = parseName(text, ROOT);
  const plain = [
    ...recordsOf(lines, text),
    ...dnskeyRecords(apex, setting.published),
    ...marks.map((name) => markOf(parseName(name, apex))),
  ];
  const now = Math.floor(Date.now() / 1000);
  const rows = new SignedRows(apex);
  const order = {
    apex,
    denial,
    keys: setting.keys,
    remakeBefore: now,
    wanted: recordsByOwner(plain),
    whole: true,
  };
  rows.sign(order, { inception: now - 10_000, expiration: now + 1_000_000 });
  const records = rows.records();
  return { apex: text, text: printRecords(records), ds: dsLines(setting, text), records };
}

export function printRecords(records: readonly ZoneRecord[]): string {
  const soaFirst = records.toSorted((a, b) => Number(b.type === TYPE.SOA) - Number(a.type === TYPE.SOA));
  return soaFirst
    .filter((record) => !isMark(record))
    .map(
      ({ owner, ttl, type, rdata }) =>
        `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
    )
    .join('\n');
}

/** Returns a DS record, in zone-file format, for each key that signs the DNSKEY set. */
function dsLines({ keys, published }: KeySetting, apex: string): string {
  const name = parseName(apex, ROOT);
  const entry = published.filter((key) => keys.entry.includes(key));
  return entry
    .map((key) => dsOf(name, { ...key, rdata: key.dnskey }))
    .map((ds) => `${apex} IN DS ${printRdata(TYPE.DS, ds)}`)
    .join('\n');
}
