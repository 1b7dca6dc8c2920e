// Scans generated zones with the real resolver over sockets, a number at a time, and counts its queries by address.

import type { Scan } from '../../../src/checks/scan/scan.ts';
import { createExchange, type Exchange } from '../../../src/resolver/exchange/exchange.ts';
import { createResolver, type Resolver } from '../../../src/resolver/resolver.ts';
import type { PublicResolvers } from '../../../src/resolver/state/public-resolvers.ts';
import type { RootServer } from '../../../src/resolver/state/root-hints.ts';
import type { CorpusZone } from './scan-corpus.ts';

export interface ScanSetting {
  readonly rootServers: readonly RootServer[];
  readonly route: (address: string) => { address: string; port: number };
  /** Default: no limits. */
  readonly rates?: { take(address: string, signal: AbortSignal): Promise<void> };
  readonly publicResolvers?: PublicResolvers;
  readonly timeoutMs?: number;
}

export interface ScanningResolver {
  readonly resolver: Resolver;
  readonly meter: Meter;
}

export function startScanning(setting: ScanSetting): ScanningResolver {
  const { rates = { take: async () => {} }, rootServers, route, timeoutMs, publicResolvers } = setting;
  const meter = new Meter();
  const exchange = createExchange({ port: 53, route, ...(timeoutMs !== undefined && { timeoutMs }) });
  const resolver = createResolver({
    exchange: meter.over(exchange),
    rootServers,
    allowed: [],
    rates,
    hasIpv6: () => false,
    ...(publicResolvers !== undefined && {
      publicResolvers: { ...publicResolvers, exchange: meter.over(publicResolvers.exchange) },
    }),
  });
  return { resolver, meter };
}

export interface Scanned {
  readonly zone: CorpusZone;
  readonly scan: Scan;
  readonly seconds: number;
}

export async function scanEach(
  resolver: Resolver,
  zones: readonly CorpusZone[],
  atOnce: number,
  onScan: (scanned: Scanned) => void,
): Promise<void> {
  const left = [...zones];
  const inTurn = async () => {
    for (let zone = left.shift(); zone !== undefined; zone = left.shift()) {
      const startedMs = performance.now();
      const scan = await resolver.scanZone(zone.zone.apex);
      onScan({ zone, scan, seconds: (performance.now() - startedMs) / 1000 });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, inTurn));
}

/** Times of the queries to each address. Retries are not counted, as for the limits. */
export class Meter {
  readonly #asked = new Map<string, number[]>();

  over(exchange: Exchange): Exchange {
    return {
      ask: (address, question, options) => {
        const moments = this.#asked.get(address) ?? [];
        this.#asked.set(address, moments);
        moments.push(performance.now());
        return exchange.ask(address, question, options);
      },
      close: () => exchange.close(),
    };
  }

  get addresses(): string[] {
    return [...this.#asked.keys()];
  }

  peak(address: string): number {
    const moments = this.#asked.get(address) ?? [];
    let most = 0;
    let first = 0;
    for (const [last, moment] of moments.entries()) {
      while ((moments[first] as number) <= moment - 1000) first++;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  /** Mean over the seconds from the first to the last query. */
  mean(address: string): number {
    const moments = this.#asked.get(address) ?? [];
    const seconds = ((moments.at(-1) ?? 0) - (moments[0] ?? 0)) / 1000;
    return moments.length / Math.max(1, seconds);
  }
}
