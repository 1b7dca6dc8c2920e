// All that is wrong with a signed zone at once.

import type { Name } from '../../../src/dns/name.ts';
import { findFaults } from '../../../src/zone/signing/check-signed.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

export function checkSigned(apex: Name, records: Iterable<ZoneRecord>, at: number) {
  return [...findFaults(apex, records, at)].filter((fault) => fault !== undefined);
}
