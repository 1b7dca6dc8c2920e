// Access to public resolvers, whose addresses may have their own ports.

import { DNS_PORT } from '../../process/listen-address.ts';
import { createExchange, type Exchange } from '../exchange/exchange.ts';
import { AddressRates, type LeaseSource } from './rate-leases.ts';

/**
 * Maximum number of queries per second to one public resolver from all workers together (docs/rules.md "Scan and import").
 */
export const PUBLIC_QUESTIONS_PER_SECOND = 20;

/** Public resolvers, queried with RD=1. */
export interface PublicResolvers {
  /** An exchange created with `recursive`, and with a `route` from these addresses. */
  readonly exchange: Exchange;
  /** Addresses in the format of `exchange`: `address`, or `address#port` for a port other than 53. */
  readonly addresses: readonly string[];
  readonly rates: { take(address: string, signal: AbortSignal): Promise<void> };
}

/** Returns undefined if none are configured. Workers share the query limits through `leases`. */
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

/** Separates these limits from others: the same address may also serve a zone, with its own limit. */
function apart(leases: LeaseSource): LeaseSource {
  return { lease: (key, wanted) => leases.lease(`resolver ${key}`, wanted) };
}
