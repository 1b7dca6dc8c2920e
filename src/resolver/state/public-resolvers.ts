// How public resolvers are reached: their addresses may have ports of their own.

import { createExchange, type Exchange } from '../exchange/exchange.ts';
import { AddressRates, type LeaseSource } from './rate-leases.ts';

/** How many questions a second one public resolver gets from all workers together (docs/rules.md "Scan and import"). */
export const PUBLIC_QUESTIONS_PER_SECOND = 20;

/** Public resolvers, asked with RD=1. */
export interface PublicResolvers {
  /** An exchange made with `recursive`, and with a `route` from these addresses. */
  readonly exchange: Exchange;
  /** The addresses as `exchange` takes them: `address`, or `address#port` for a port other than 53. */
  readonly addresses: readonly string[];
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
}

const DNS_PORT = 53;

/** Undefined where there are none. Workers share the limits on questions through `leases`. */
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

/** Keeps these limits apart: such an address may also be that of a zone's server, with a limit of its own. */
function apart(leases: LeaseSource): LeaseSource {
  return { lease: (key, wanted) => leases.lease(`resolver ${key}`, wanted) };
}
