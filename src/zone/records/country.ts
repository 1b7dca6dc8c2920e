// The country of a record's destination: for an address from the address database, for all others none.

import { printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import type { RecordValue } from './customer-record.ts';

/** ISO 3166, two capital letters; undefined where it is not known. */
export type CountryOf = (address: string) => string | undefined;

export function countryOfDestination(
  { type, rdata }: Pick<RecordValue, 'type' | 'rdata'>,
  countryOf: CountryOf,
): string | null {
  if (type === 'A' && rdata.length === 4) return countryOf(printIpv4(rdata)) ?? null;
  if (type === 'AAAA' && rdata.length === 16) return countryOf(printIpv6(rdata)) ?? null;
  return null;
}
