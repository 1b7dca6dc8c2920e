// The resolver of a workers process, with the state that all workers share: leases, trials of addresses, and silent
// addresses.

import { type Network, parseNetwork } from '../src/dns/record/network.ts';
import { openRedisLeases } from '../src/jobs/redis-leases.ts';
import type { ProcessLife } from '../src/process/run-process.ts';
import { createExchange } from '../src/resolver/exchange/exchange.ts';
import { watchIpv6 } from '../src/resolver/exchange/has-ipv6.ts';
import { createResolver, type Resolver } from '../src/resolver/resolver.ts';
import { AddressGate, NETWORK_QUESTIONS_PER_SECOND } from '../src/resolver/state/address-gate.ts';
import { openPublicResolvers, PUBLIC_QUESTIONS_PER_SECOND } from '../src/resolver/state/public-resolvers.ts';
import { AddressRates, type LeaseSource, QUESTIONS_PER_SECOND } from '../src/resolver/state/rate-leases.ts';
import { Silences } from '../src/resolver/state/silences.ts';
import type { Database } from '../src/store/postgres/database.ts';
import { postgresLeases } from '../src/store/resolver/query-leases.ts';
import { postgresTrials } from '../src/store/resolver/silences.ts';
import { isPublicSuffix } from '../src/zone/domain/public-suffix.ts';
import { readRootHints } from './root-files.ts';

interface ResolverSettings {
  readonly resolverAllow: readonly string[];
  readonly rootHints: string | undefined;
  readonly dnsPortOut: number;
  readonly publicResolvers: Parameters<typeof openPublicResolvers>[0];
  readonly redisUrl: string | undefined;
}

export async function openResolver(
  settings: ResolverSettings,
  db: Database,
  life: ProcessLife,
  on: {
    /** Returns the rdata of the current DS records of the root. */
    trustAnchors(): readonly Uint8Array[];
    onTrouble(error: Error): void;
    onRootFault(message: string): void;
  },
): Promise<{ resolver: Resolver; silences: Silences }> {
  const allowed = settings.resolverAllow.map((text) => parseNetwork(text) as Network);
  const rootServers = await readRootHints(settings.rootHints);
  const exchange = createExchange({ port: settings.dnsPortOut });
  const openLeases = leasesOf(settings, db, life, on.onTrouble);
  const publicResolvers = openPublicResolvers(
    settings.publicResolvers,
    openLeases(PUBLIC_QUESTIONS_PER_SECOND),
  );
  const silences = new Silences(Date.now);
  const gate = new AddressGate({
    silences,
    trials: postgresTrials(db, on.onTrouble),
    networks: new AddressRates(
      NETWORK_QUESTIONS_PER_SECOND,
      openLeases(NETWORK_QUESTIONS_PER_SECOND),
      Date.now,
    ),
    isExempt: isPublicSuffix,
    now: Date.now,
  });
  const resolver = createResolver({
    exchange,
    rootServers,
    trustAnchors: on.trustAnchors,
    onRootFault: on.onRootFault,
    allowed,
    gate,
    silences,
    rates: new AddressRates(QUESTIONS_PER_SECOND, openLeases(QUESTIONS_PER_SECOND), Date.now),
    ...(publicResolvers !== undefined && { publicResolvers }),
    hasIpv6: watchIpv6(settings.resolverAllow.some((network) => network.includes(':'))),
  });
  life.onStop(() => resolver.close());
  return { resolver, silences };
}

/** Chooses where workers share the limits of queries to an address. */
function leasesOf(
  { redisUrl }: ResolverSettings,
  db: Database,
  life: ProcessLife,
  onTrouble: (error: Error) => void,
): (perSecond: number) => LeaseSource {
  return (perSecond) => {
    if (redisUrl === undefined) return postgresLeases(db, perSecond);
    const leases = openRedisLeases(redisUrl, perSecond, onTrouble);
    life.onStop(() => leases.close());
    return leases;
  };
}
