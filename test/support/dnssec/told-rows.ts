// Rows of a signed zone as text that two signers agree on: without the octets of signatures, which differ each time.

import { readSignature } from '../../../src/dns/dnssec/signed-octets.ts';
import { printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { isMark, type ZoneRecord } from '../../../src/zone/zone.ts';

export function toldRows(records: readonly ZoneRecord[]): string[] {
  return records.map((record) => `${printName(record.owner)} ${record.ttl} ${rest(record)}`).sort();
}

function rest(record: ZoneRecord): string {
  const { type, rdata } = record;
  if (isMark(record)) return 'mark';
  if (type !== TYPE.RRSIG) return `${typeMnemonic(type)} ${printRdata(type, rdata)}`;
  const { typeCovered, keyTag } = readSignature(rdata);
  return `RRSIG ${typeMnemonic(typeCovered)} ${keyTag}`;
}
