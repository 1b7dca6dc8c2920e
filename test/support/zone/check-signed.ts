// Returns all faults of a signed zone in one list.

import type { Name } from '../../../src/dns/name.ts';
import { findFaults } from '../../../src/zone/signing/check-signed.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

export function checkSigned(apex: Name, records: Iterable<ZoneRecord>, at: number) {
  return [...findFaults(apex, records, at)].filter((fault) => fault !== undefined);
}
