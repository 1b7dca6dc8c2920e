// Opens a resolver with the settings of this machine, for a command that queries the internet itself, and closes it.

import { type Network, parseNetwork } from '../../dns/record/network.ts';
import { createExchange } from '../../resolver/exchange/exchange.ts';
import { watchIpv6 } from '../../resolver/exchange/has-ipv6.ts';
import { createResolver, type Resolver } from '../../resolver/resolver.ts';
import { openPublicResolvers } from '../../resolver/state/public-resolvers.ts';
import { AddressRates, QUESTIONS_PER_SECOND } from '../../resolver/state/rate-leases.ts';
import { loadRootHints, type RootServer } from '../../resolver/state/root-hints.ts';
import { loadTrustAnchors } from '../../resolver/state/trust-anchors.ts';
import type { CliSettings } from './cli.ts';
import { Failure } from './failure.ts';

interface Observing {
  readonly settings: CliSettings;
  readonly signal: AbortSignal;
}

/** Returns undefined if interrupted. */
export async function observeFromHere<T>(
  { settings, signal }: Observing,
  observe: (resolver: Resolver) => Promise<T>,
): Promise<T | undefined> {
  const resolver = await openResolver(settings);
  try {
    return await observe(resolver);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    await resolver.close();
  }
}

async function openResolver(settings: CliSettings): Promise<Resolver> {
  const { rootHints, dnsPortOut, resolverAllow } = settings;
  const allowed = resolverAllow.map((text) => parseNetwork(text) as Network); // the settings are already validated
  const rootServers = await readRootHints(rootHints);
  const anchors = await readTrustAnchors(settings);
  const publicResolvers = openPublicResolvers(settings.publicResolvers, undefined);
  return createResolver({
    exchange: createExchange({ port: dnsPortOut }),
    rootServers,
    trustAnchors: () => anchors,
    allowed,
    rates: new AddressRates(QUESTIONS_PER_SECOND, undefined, Date.now),
    ...(publicResolvers !== undefined && { publicResolvers }),
    hasIpv6: watchIpv6(resolverAllow.some((network) => network.includes(':'))),
  });
}

async function readRootHints(path: string | undefined): Promise<readonly RootServer[]> {
  try {
    return await loadRootHints(path);
  } catch (error) {
    throw new Failure('file', `ROOT_HINTS: ${(error as Error).message}`, { cause: error });
  }
}

async function readTrustAnchors(settings: CliSettings): Promise<readonly Uint8Array[]> {
  try {
    return await loadTrustAnchors(settings);
  } catch (error) {
    throw new Failure('file', `TRUST_ANCHORS: ${(error as Error).message}`, { cause: error });
  }
}
