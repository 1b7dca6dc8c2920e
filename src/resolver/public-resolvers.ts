// How resolvers of others are reached: their addresses may have ports of their own.

import { createExchange } from './exchange.ts';
import { AddressRates, type LeaseSource } from './rate-leases.ts';
import type { PublicResolvers } from './resolver.ts';

/** Of each of them, over all workers (spec §9). */
export const PUBLIC_QUESTIONS_PER_SECOND = 20;

const DNS_PORT = 53;

/** Undefined where there are none. `leases` is where workers share what they may ask. */
export function openPublicResolvers(
  places: readonly { readonly address: string; readonly port: number }[],
  leases: LeaseSource | undefined,
): PublicResolvers | undefined {
  if (places.length === 0) return undefined;
  const byKey = new Map(
    places.map((place) => [
      place.port === DNS_PORT ? place.address : `${place.address}#${place.port}`,
      place,
    ]),
  );
  return {
    exchange: createExchange({
      port: DNS_PORT,
      recursive: true,
      route: (key) => byKey.get(key) ?? { address: key, port: DNS_PORT },
    }),
    addresses: [...byKey.keys()],
    rates: new AddressRates(PUBLIC_QUESTIONS_PER_SECOND, leases && apart(leases), Date.now),
  };
}

/** Such an address may be that of a zone's server too, and has then a limit as each. */
function apart(leases: LeaseSource): LeaseSource {
  return { lease: (key, wanted) => leases.lease(`resolver ${key}`, wanted) };
}
