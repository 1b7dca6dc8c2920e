// The resolver of an observer, with its own root hints, caches and limits. It shares nothing with the fleet, so that
// false data in the fleet's caches cannot reach it.

import { type Network, parseNetwork } from '../../src/dns/record/network.ts';
import { createExchange } from '../../src/resolver/exchange/exchange.ts';
import { watchIpv6 } from '../../src/resolver/exchange/has-ipv6.ts';
import { createResolver, type Resolver } from '../../src/resolver/resolver.ts';
import { AddressGate, NETWORK_QUESTIONS_PER_SECOND } from '../../src/resolver/state/address-gate.ts';
import { AddressRates, QUESTIONS_PER_SECOND } from '../../src/resolver/state/rate-leases.ts';
import { Silences } from '../../src/resolver/state/silences.ts';
import { isPublicSuffix } from '../../src/zone/domain/public-suffix.ts';
import { readRootHints, readTrustAnchors } from '../root-files.ts';

interface ResolverSettings {
  readonly resolverAllow: readonly string[];
  readonly rootHints: string | undefined;
  readonly trustAnchors: Parameters<typeof readTrustAnchors>[0]['trustAnchors'];
  readonly dnsPortOut: number;
}

/** Throws StartFault. */
export async function openResolver(
  settings: ResolverSettings,
  onRootFault: (message: string) => void,
): Promise<Resolver> {
  const rootServers = await readRootHints(settings.rootHints);
  const anchors = await readTrustAnchors(settings);
  const silences = new Silences(Date.now);
  return createResolver({
    exchange: createExchange({ port: settings.dnsPortOut }),
    rootServers,
    trustAnchors: () => anchors,
    onRootFault,
    allowed: settings.resolverAllow.map((text) => parseNetwork(text) as Network), // the settings are validated
    silences,
    gate: new AddressGate({
      silences,
      networks: new AddressRates(NETWORK_QUESTIONS_PER_SECOND, undefined, Date.now),
      isExempt: isPublicSuffix,
      now: Date.now,
    }),
    rates: new AddressRates(QUESTIONS_PER_SECOND, undefined, Date.now),
    hasIpv6: watchIpv6(settings.resolverAllow.some((network) => network.includes(':'))),
  });
}
