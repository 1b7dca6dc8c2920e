// Unbound and the resolver agree on what is secure, insecure and bogus, on random chains of zones that are right and wrong in
// the ways that DNSSEC can be. Where they differ, each difference has its reason, and the resolver is the stricter.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { decodeMessage, FLAG } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { labelCount, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { createExchange } from '../../../src/resolver/exchange/exchange.ts';
import { createResolver, type Resolver } from '../../../src/resolver/resolver.ts';
import { type ChainInternet, serveChains } from '../../support/dnssec/chain-internet.ts';
import {
  type Chain,
  KeyRing,
  LEVEL_ADDRESSES,
  randomChain,
  rootFor,
} from '../../support/dnssec/random-chains.ts';
import type { SignedZone } from '../../support/dnssec/signed-zone.ts';
import { dsOf, makeKey } from '../../support/dnssec/signing.ts';
import { askMany, isInstalled } from '../../support/peers/peers.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { startUnbound } from '../../support/validators/unbound.ts';
import { recursive, type ValidatingResolver } from '../../support/validators/validator.ts';
import { ROOT_A } from '../../support/world/test-resolver.ts';
import { name } from '../../support/world/zone-exchange.ts';

const missing = isInstalled('unbound') ? '' : ' (skipped: needs unbound)';
const CHAINS = scale(2000, 150);
const AT_ONCE = 20;
const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_122);

type Security = 'secure' | 'insecure' | 'bogus';

/** What one check concludes of the name: of the parent, and of what the parent says. */
function ours({ security, failure, servers }: Evidence): Security {
  const [server] = servers;
  if (failure !== undefined || server === undefined) return 'bogus';
  if (!['referral', 'nodata', 'nxdomain', 'alias'].includes(server.outcome)) return 'bogus';
  return security === 'secure' ? (server.proof ?? 'bogus') : 'insecure';
}

function theirs(reply: Uint8Array | undefined): Security | 'nothing' {
  if (reply === undefined) return 'nothing';
  const { rcode } = decodeMessage(reply);
  if (rcode === RCODE.SERVFAIL) return 'bogus';
  return ((reply[3] as number) & FLAG.AD) !== 0 ? 'secure' : 'insecure';
}

/** True if the two differ on purpose. */
function isMeant({ drawn, asked, zones }: Chain, mine: Security, other: string): boolean {
  if (mine !== 'bogus') return false;
  const has = (words: string) => drawn.some((each) => each.includes(words));
  // A DS record of a revoked key is not trusted here (RFC 5011 §2.1); Unbound checks REVOKE in its anchors only. A SHA-1
  // digest is ignored if there is a SHA-256 one (RFC 4509 §3), by Unbound with harden-algo-downgrade only.
  if (has('revoked key') || has('SHA-1 right, SHA-256 wrong')) return true;
  // Unbound searches for an unsigned zone between the parent and the name. Opt-out and costly hashes do not rule one out,
  // but the reply is from the parent itself.
  const isDeep = labelCount(asked) > labelCount((zones.at(-1) as SignedZone).apex) + 1;
  const parent = drawn.find((each) => each.startsWith('denial')) ?? '';
  return other === 'insecure' && isDeep && /NSEC3 (101|150|500) iterations|opt-out/.test(parent);
}

describe.skipIf(missing !== '')(`the resolver and Unbound${missing}`, () => {
  const now = Math.floor(Date.now() / 1000);
  const key = makeKey(13);
  const anchor = dsOf(name('.'), key);
  let chains: readonly Chain[] = [];
  let internet: ChainInternet;
  let unbound: ValidatingResolver;
  let resolver: Resolver;

  beforeAll(async () => {
    const random = randomFrom(SEED);
    const keys = new KeyRing();
    chains = Array.from({ length: CHAINS }, (_, i) => randomChain(random, i, keys, now));
    internet = await serveChains(rootFor(chains, key, now), chains);
    const stubs = chains.flatMap(({ zones }) =>
      zones.map(({ apex }, i) => ({ zone: printName(apex), port: internet.ports[i + 1] as number })),
    );
    const root = { zone: '.', port: internet.ports[0] as number };
    unbound = await startUnbound({
      anchors: [`. IN DS ${printRdata(TYPE.DS, anchor)}`],
      reached: { stubs: [root, ...stubs] },
    });
    const places = [ROOT_A, ...LEVEL_ADDRESSES];
    resolver = createResolver({
      exchange: createExchange({
        port: 53,
        route: (address) => ({
          address: '127.0.0.1',
          port: internet.ports[places.indexOf(address)] as number,
        }),
      }),
      rootServers: [{ name: name('a.root'), addresses: [ROOT_A] }],
      allowed: [],
      rates: { take: async () => {} },
      hasIpv6: () => false,
      trustAnchors: () => [anchor],
    });
  });

  afterAll(async () => {
    await resolver?.close();
    await unbound?.stop();
    await internet?.close();
  });

  it(`agree on ${CHAINS} random chains`, async () => {
    const mine = new Map<Chain, Evidence>();
    for (let from = 0; from < chains.length; from += AT_ONCE) {
      const part = chains.slice(from, from + AT_ONCE);
      const seen = await Promise.all(part.map(({ asked }) => resolver.observeDelegation(asked)));
      for (const [i, chain] of part.entries()) mine.set(chain, seen[i] as Evidence);
    }
    const queries = chains.map(({ asked, type }) => recursive(asked, type));
    const replies = await askMany(unbound.port, queries, { tries: 4, timeoutMs: 15_000 });

    const counts = new Map<string, number>();
    const unexplained: string[] = [];
    for (const [i, chain] of chains.entries()) {
      const evidence = mine.get(chain) as Evidence;
      const [we, they] = [ours(evidence), theirs(replies[i])];
      counts.set(`${we} ${they}`, (counts.get(`${we} ${they}`) ?? 0) + 1);
      if (we === they) continue;
      if (isMeant(chain, we, they)) continue;
      const why = evidence.failure?.message ?? evidence.servers[0]?.error ?? evidence.servers[0]?.outcome;
      unexplained.push(
        `${printName(chain.asked)} we: ${we} (${why}), Unbound: ${they}; ${chain.drawn.join(', ')}`,
      );
    }
    expect(unexplained).toEqual([]);
    // Where we differ, we are the stricter.
    expect(
      counts.get('secure insecure') ?? counts.get('secure bogus') ?? counts.get('insecure bogus'),
    ).toBeUndefined();
    for (const each of ['secure', 'insecure', 'bogus'])
      expect(counts.get(`${each} ${each}`) ?? 0).toBeGreaterThan(chains.length / 20);
  });
});
