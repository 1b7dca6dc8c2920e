// A resolver over a ZoneExchange with its own clock and random numbers, and evidence as short text.

import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { printName } from '../../../src/dns/name.ts';
import type { Network } from '../../../src/dns/record/network.ts';
import type { ObserveOptions } from '../../../src/resolver/delegation/observe-delegation.ts';
import type { Exchange } from '../../../src/resolver/exchange/exchange.ts';
import { createResolver, type Resolver } from '../../../src/resolver/resolver.ts';
import type { Limits } from '../../../src/resolver/state/limits.ts';
import type { PublicResolvers } from '../../../src/resolver/state/public-resolvers.ts';
import { name, ZoneExchange, zone } from './zone-exchange.ts';

export const ROOT_A = '198.41.0.4';
export const ROOT_B = '170.247.170.2';
export const COM_A = '192.5.6.30';
export const COM_B = '192.33.14.30';

export interface TestResolver {
  readonly resolver: Resolver;
  readonly clock: { now: number };
  readonly taken: string[];
  observe(domain: string, options?: ObserveOptions): Promise<Evidence>;
}

export function testResolver(
  exchange: Exchange,
  options: {
    limits?: Partial<Limits>;
    hasIpv6?: boolean;
    allowed?: readonly Network[];
    random?: () => number;
    cacheEntries?: number;
    publicResolvers?: PublicResolvers;
    trustAnchors?: () => readonly Uint8Array[];
    onRootFault?: (message: string) => void;
  } = {},
): TestResolver {
  const clock = { now: 1_700_000_000_000 };
  const taken: string[] = [];
  const { hasIpv6 = false, allowed = [], random = dice(1), ...rest } = options;
  const resolver = createResolver({
    exchange,
    rootServers: [
      { name: name('a.root'), addresses: [ROOT_A] },
      { name: name('b.root'), addresses: [ROOT_B] },
    ],
    allowed,
    rates: {
      async take(address) {
        taken.push(address);
      },
    },
    hasIpv6: () => hasIpv6,
    now: () => clock.now,
    random,
    ...rest,
  });
  return {
    resolver,
    clock,
    taken,
    observe: (domain, observed) => resolver.observeDelegation(name(domain), observed),
  };
}

/** Returns the same numbers in [0, 1) for the same seed. */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The root with the delegations of `text`, at its two addresses. */
export function internet(text: string): ZoneExchange {
  const root = zone('.', `@ NS a.root.\n@ NS b.root.\na.root. A ${ROOT_A}\nb.root. A ${ROOT_B}\n${text}`);
  return new ZoneExchange().serve(ROOT_A, root).serve(ROOT_B, root);
}

/** Root and com, with two servers each. `text` is the contents of com. */
export function comInternet(text: string): ZoneExchange {
  const com = zone('com.', `@ NS a.gtld.\n@ NS b.gtld.\n${text}`);
  return internet(`com NS a.gtld.\ncom NS b.gtld.\na.gtld. A ${COM_A}\nb.gtld. A ${COM_B}`)
    .serve(COM_A, com)
    .serve(COM_B, com);
}

/** Formats `referral a. b.`: each server's answer, in alphabetical order. */
export function outcomesOf({ servers }: Evidence): string[] {
  return servers.map(({ outcome, ns }) => [outcome, ...ns.map(printName)].join(' ')).sort();
}

/** Formats `. com.`. Zones that needed no query are in parentheses. */
export function walked({ walk }: Evidence): string {
  return walk.map(({ zone: at, cached }) => (cached ? `(${printName(at)})` : printName(at))).join(' ');
}

/** Formats `loop at b.`. */
export function failure(evidence: Evidence): string | undefined {
  return evidence.failure && `${evidence.failure.reason} at ${printName(evidence.failure.zone)}`;
}
