// Opens the public checks. They run in this process with a separate resolver, and use no slots, leases or connections
// of the workers. They do not store runs, silences or address trials. They add a tenth to the rate at which the
// workers may query one address (docs/rules.md "Limits of the resolver").

import type { Name } from '../../dns/name.ts';
import type { Network } from '../../dns/record/network.ts';
import { createExchange } from '../../resolver/exchange/exchange.ts';
import { watchIpv6 } from '../../resolver/exchange/has-ipv6.ts';
import { createResolver } from '../../resolver/resolver.ts';
import { AddressGate, NETWORK_QUESTIONS_PER_SECOND } from '../../resolver/state/address-gate.ts';
import type { Limits } from '../../resolver/state/limits.ts';
import { AddressRates, QUESTIONS_PER_SECOND } from '../../resolver/state/rate-leases.ts';
import type { RootServer } from '../../resolver/state/root-hints.ts';
import { Silences } from '../../resolver/state/silences.ts';
import { isPublicSuffix } from '../../zone/domain/public-suffix.ts';
import { PublicChecks } from './public-checks.ts';

/** Fraction of the workers' limits that applies to this process. */
const SHARE = 0.1;
/** Limits of one walk, whatever its servers do. DNSSEC is not validated, because that takes time. */
const WALK_LIMITS: Partial<Limits> = { packets: 40, milliseconds: 10_000, lookups: 10, nesting: 4 };
const CACHE_ENTRIES = 2000;

interface PublicResolverSettings {
  readonly rootServers: readonly RootServer[];
  /** Port to which queries are sent. */
  readonly port: number;
  /** Networks that may be queried although their addresses are not public. */
  readonly allowed: readonly Network[];
  readonly hasPrivateIpv6: boolean;
}

export function openPublicChecks({ rootServers, port, allowed, hasPrivateIpv6 }: PublicResolverSettings): {
  readonly checks: PublicChecks;
  close(): Promise<void>;
} {
  const silences = new Silences(Date.now);
  const rateOf = (perSecond: number) => new AddressRates(perSecond * SHARE, undefined, Date.now);
  const resolver = createResolver({
    exchange: createExchange({ port }),
    rootServers,
    allowed,
    silences,
    gate: new AddressGate({
      silences,
      networks: rateOf(NETWORK_QUESTIONS_PER_SECOND),
      isExempt: isPublicSuffix,
      now: Date.now,
    }),
    rates: rateOf(QUESTIONS_PER_SECOND),
    hasIpv6: watchIpv6(hasPrivateIpv6),
    limits: WALK_LIMITS,
    cacheEntries: CACHE_ENTRIES,
  });
  return {
    checks: new PublicChecks((domain: Name) => resolver.observeDelegation(domain)),
    close: () => resolver.close(),
  };
}
