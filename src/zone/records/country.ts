// Determines the country of a record's destination from the address database. Destinations that are not addresses have none.

import { printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import type { RecordValue } from './customer-record.ts';

/** Returns the ISO 3166 code (two capital letters), or undefined if it is unknown. */
export type CountryOf = (address: string) => string | undefined;

export function countryOfDestination(
  { type, rdata }: Pick<RecordValue, 'type' | 'rdata'>,
  countryOf: CountryOf,
): string | null {
  if (type === 'A' && rdata.length === 4) return countryOf(printIpv4(rdata)) ?? null;
  if (type === 'AAAA' && rdata.length === 16) return countryOf(printIpv6(rdata)) ?? null;
  return null;
}
