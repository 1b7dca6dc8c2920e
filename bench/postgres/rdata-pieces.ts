// Splits the records of a zone file at the zone's own name, so that another zone's name can be inserted.

import { encodeKey } from '../../src/dns/dnssec/canonical-key.ts';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { placeOfRecord } from '../../src/zone/signing/denial-records.ts';

export interface RecordPieces {
  /** Text before the zone's name: empty, or labels that each end in a dot. */
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  /** Hex of the rdata before and after the zone's name. */
  readonly before: string;
  readonly namesApex: boolean;
  readonly after: string;
  /** For NSEC: the hex position in the ring, which is the same in every zone. */
  readonly place?: string;
}

export function readRdataPieces(text: string, apexText: string): RecordPieces[] {
  const apex = parseName(apexText);
  const { records, problems } = parseZoneFile(text, { origin: apex });
  if (problems.length > 0) throw new Error(`the recipe has problems: ${problems[0]?.message}`);
  const wire = Buffer.from(apex, 'latin1');
  const encodedPlace = (record: { owner: Name; type: number }) => {
    const place = placeOfRecord(record, apex);
    return place && { place: Buffer.from(encodeKey(place)).toString('hex') };
  };
  return records.map(({ owner, type, ttl, rdata }) => {
    const octets = Buffer.from(rdata);
    const at = octets.indexOf(wire);
    return {
      owner: printName(owner).slice(0, -apexText.length),
      type,
      ttl,
      before: octets.subarray(0, at === -1 ? octets.length : at).toString('hex'),
      namesApex: at !== -1,
      after: at === -1 ? '' : octets.subarray(at + wire.length).toString('hex'),
      ...encodedPlace({ owner, type }),
    };
  });
}
