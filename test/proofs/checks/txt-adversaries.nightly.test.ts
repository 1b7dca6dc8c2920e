// Thousands of small internets in which attackers want another owner's name verified, and owners their own: no attacker is
// believed, and every owner is, as long as half of the servers of each zone stand.

import { beforeAll, describe, expect, it } from 'vitest';
import { judgeTxt } from '../../../src/checks/txt/judge-txt.ts';
import type { TxtEvidence, TxtLink, TxtServerEvidence } from '../../../src/checks/txt/txt-evidence.ts';
import { createResolver } from '../../../src/resolver/resolver.ts';
import { ATTACK_KINDS } from '../../support/challenge/challenge-attacks.ts';
import { ROOT_SERVERS } from '../../support/challenge/challenge-world.ts';
import { type RandomChallenge, randomChallenge } from '../../support/challenge/random-challenges.ts';
import { scale } from '../../support/tests/scale.ts';
import { name } from '../../support/world/zone-exchange.ts';

/** In full other worlds each time. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 31), 1));
const WORLDS = scale(10_000, 300);

type World = Omit<RandomChallenge, 'exchange'>;

/** What was seen in each world. */
const seen: { readonly world: World; readonly evidence: TxtEvidence }[] = [];

beforeAll(async () => {
  for (let i = 0; i < WORLDS; i++) {
    const { exchange, ...world } = randomChallenge(SEED + i);
    const resolver = createResolver({
      exchange,
      rootServers: ROOT_SERVERS.map(({ server, address }) => ({
        name: name(server),
        addresses: [address],
      })),
      allowed: [],
      rates: { take: async () => {} },
      hasIpv6: () => true,
    });
    seen.push({ world, evidence: await resolver.observeTxt(world.host) });
    await resolver.close();
  }
}, 30 * 60_000);

it(`${WORLDS} worlds, seed ${SEED}`, () => {
  const wrong = seen.flatMap(({ world, evidence }) => {
    const { verdict, message } = judgeTxt(evidence, world);
    const isRight = (verdict === 'verified') === (world.attack === undefined);
    return isRight ? [] : [`${world.story}: ${verdict}: ${message}`];
  });
  expect(wrong).toEqual([]);
  const attacks = new Set(seen.map(({ world }) => world.attack));
  expect(attacks.size).toBe(ATTACK_KINDS.length + 1);
});

/** Each breaks one rule; the worlds that do not show it would prove nothing. */
const BROKEN: readonly [rule: string, judge: typeof judgeTxt][] = [
  [
    'one server that has the value is enough',
    (evidence, expected) =>
      judgeTxt(
        withServers(evidence, ({ outcome }) => outcome === 'answer' || outcome === 'alias'),
        expected,
      ),
  ],
  [
    'servers that do not answer do not count',
    (evidence, expected) =>
      judgeTxt(
        withServers(evidence, ({ outcome }) =>
          ['answer', 'alias', 'referral', 'nodata', 'nxdomain'].includes(outcome),
        ),
        expected,
      ),
  ],
  ['a server is asked once', (evidence, expected) => judgeTxt(withLinks(evidence, { again: [] }), expected)],
  [
    'one server of a zone above decides',
    (evidence, expected) => judgeTxt(withLinks(evidence, { delegations: [] }), expected),
  ],
  [
    'what is beside the name does not matter',
    (evidence, expected) => {
      const siblings = evidence.siblings.map((sibling) => ({ ...sibling, targets: [], values: [] }));
      return judgeTxt({ ...evidence, siblings }, expected);
    },
  ],
  [
    'two names beside it are enough',
    (evidence, expected) => {
      const [first, second] = evidence.siblings;
      const siblings = first && second ? [first, second, first] : evidence.siblings;
      return judgeTxt({ ...withLinks(evidence, { again: [] }), siblings }, expected);
    },
  ],
  [
    'our own servers are believed',
    (evidence, expected) => judgeTxt(evidence, { ...expected, untrusted: new Set() }),
  ],
];

function withLinks(evidence: TxtEvidence, change: Partial<TxtLink>): TxtEvidence {
  return { ...evidence, links: evidence.links.map((link) => ({ ...link, ...change })) };
}

function withServers(evidence: TxtEvidence, counts: (server: TxtServerEvidence) => boolean): TxtEvidence {
  const links = evidence.links.map((link) => ({
    ...link,
    servers: link.servers.filter(counts),
    again: link.again.filter(counts),
  }));
  return { ...evidence, links };
}

describe('it sees a broken rule', () => {
  it.each(BROKEN)('%s', (_, judge) => {
    const believed = seen.filter(
      ({ world, evidence }) => world.attack !== undefined && judge(evidence, world).verdict === 'verified',
    );
    expect(believed.length).toBeGreaterThan(0);
  });
});
