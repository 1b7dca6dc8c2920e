// The delegation checker in small internets, one per folder of fixtures/worlds: real packets to servers that are slow, lame
// or liars, then the verdict, its findings and what becomes of the domain's status.

import { describe, expect, it } from 'vitest';
import { type Rules, UNKNOWN_PENDING_MAX_MS } from '../../src/checks/delegation/next-status.ts';
import type { Edns } from '../../src/dns/message/edns.ts';
import type { Message } from '../../src/dns/message/message.ts';
import { printName } from '../../src/dns/name.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import { createExchange } from '../../src/resolver/exchange/exchange.ts';
import { createResolver } from '../../src/resolver/resolver.ts';
import { AddressRates } from '../../src/resolver/state/rate-leases.ts';
import { encodeMessage } from '../support/answer/encode-message.ts';
import { exchangeUdp } from '../support/answer/sockets.ts';
import { heldZoneFor } from '../support/database/held-zone.ts';
import {
  claimOf,
  judgeWorld,
  outcomeOf,
  printDifferences,
  printEvidence,
} from '../support/world/compare-check.ts';
import { FakeInternet } from '../support/world/fake-internet.ts';
import {
  type Expectations,
  type ExpectedCheck,
  parseExpectations,
} from '../support/world/read-expectations.ts';
import {
  canonicalAddress,
  type FaultKind,
  nameOf,
  parseWorld,
  readWorld,
  readWorldFile,
  type World,
  worldFolders,
} from '../support/world/read-world.ts';
import type { Seen } from '../support/world/world-server.ts';

const DAY_MS = 86_400_000;
const RULES: Rules = {
  movedAfterMs: DAY_MS,
  movedGraceMs: 14 * DAY_MS,
  pendingMaxMs: 28 * DAY_MS,
  unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS,
};
const BEGINNING = Date.UTC(2026, 2, 1);
const TRIES = 2;
/** Where every server answers, time makes no difference: not on a busy machine either. */
const TIMEOUT_MS = 3000;
const TIMEOUT_FOR_SILENCE_MS = 1000;
const SILENCES: readonly FaultKind[] = [
  'silent',
  'silent-on-edns',
  'silent-tcp',
  'wrong-id',
  'wrong-question',
  'wrong-source',
  'garbage',
  'loop-pointer',
  'short',
];

interface Scenario {
  readonly folder: string;
  readonly world: World;
  readonly expected: Expectations;
}

const scenarios: Scenario[] = worldFolders().map((folder) => ({
  folder,
  world: readWorld(folder),
  expected: parseExpectations(readWorldFile(folder, 'expect.txt'), `fixtures/worlds/${folder}/expect.txt`),
}));

const EDNS: Edns = { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] };
const QUESTION: Message = {
  id: 1,
  qr: false,
  opcode: 0,
  aa: false,
  tc: false,
  rd: false,
  ra: false,
  ad: false,
  cd: false,
  rcode: 0,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
  edns: EDNS,
};

const WITHOUT_EDNS = { edns: undefined } as unknown as Partial<Message>; // `encodeMessage` leaves it out

/** Of all worlds. */
const questions: Seen[] = [];

describe('a delegation check', () => {
  it.concurrent.for(
    scenarios.map((scenario) => [`${scenario.folder}: ${scenario.world.title}`, scenario] as const),
  )('%s', async ([, { world, expected }]) => {
    const internet = await FakeInternet.start(world);
    const clock = new VirtualClock();
    const timeoutMs = hasSilence(world, expected) ? TIMEOUT_FOR_SILENCE_MS : TIMEOUT_MS;
    const exchange = createExchange({ port: 53, timeoutMs, attempts: TRIES, route: internet.route });
    const resolver = createResolver({
      exchange,
      rootServers: internet.rootServers(),
      allowed: [],
      rates: new AddressRates(50, undefined, Date.now),
      hasIpv6: () => world.hasIpv6,
      now: () => clock.now(),
    });
    try {
      let claim = expected.state && claimOf(expected.state, expected.sets, BEGINNING);
      for (const [index, check] of expected.checks.entries()) {
        clock.set(BEGINNING + check.at);
        prepare(internet, check);
        const before = internet.seen.length;
        const zones = check.held.flatMap((apex) => world.held.get(apex) ?? []);
        expect(zones.length, 'zones that the world holds').toBe(check.held.length);
        const held = heldZoneFor(expected.domain, zones);
        const evidence = await resolver.observeDelegation(
          expected.domain,
          held === undefined ? {} : { held },
        );
        const judged = judgeWorld(evidence, claim, expected, { rules: RULES, frozen: check.frozen });
        ({ claim } = judged);
        const { violations } = internet;
        const outcome = outcomeOf(check, expected.sets, { ...judged, evidence, violations });
        const { wanted } = check;
        expect(
          outcome,
          `check ${index + 1}: ${printDifferences(outcome, wanted)} (${printEvidence(evidence)})`,
        ).toEqual(wanted);
        expect(evidence.queries, 'packets').toBeLessThanOrEqual(check.packets);
        expect(internet.seen.length - before, 'packets that arrived').toBeLessThanOrEqual(evidence.queries);
        for (const { address, max } of check.asked) {
          expect(internet.countAt(address), `questions at ${address}`).toBeLessThanOrEqual(max);
        }
      }
    } finally {
      questions.push(...internet.seen);
      await resolver.close();
      await internet.close();
    }
  });
});

describe('the questions of all these checks', () => {
  it('have mixed case that differs each time, so that a forger cannot know it', () => {
    const long = questions.filter(({ name }) => printName(name).replace(/[^a-z]/g, '').length >= 10);
    const mixed = long.filter(({ name, spelled }) => name !== spelled);
    expect(long.length).toBeGreaterThan(100);
    expect(mixed.length / long.length).toBeGreaterThan(0.95);
    const spellings = new Set(
      long.filter(({ name }) => name === nameOf('example.com.')).map(({ spelled }) => spelled),
    );
    expect(spellings.size).toBeGreaterThan(50);
  });

  it('have ids all over the range', () => {
    expect(new Set(questions.map(({ id }) => id)).size).toBeGreaterThan(questions.length * 0.9);
    for (let quarter = 0; quarter < 4; quarter++) {
      expect(questions.some(({ id }) => id >> 14 === quarter)).toBe(true);
    }
  });
});

describe('a small internet', () => {
  const world = () =>
    parseWorld(`
include internet
server a.nic.com. 5.1.0.1
  never secret.com.
zone com.
  example NS ana.fleet.net.
`);

  /** What is written down when this is asked at this address. */
  async function violationsOf(
    address: string,
    name: string,
    change: Partial<Message> = {},
  ): Promise<string[]> {
    const internet = await FakeInternet.start(world());
    try {
      const question: Message = {
        ...QUESTION,
        questions: [{ name: nameOf(name), type: TYPE.NS, class: CLASS.IN }],
      };
      await exchangeUdp(internet.route(address), encodeMessage({ ...question, ...change }), 100);
      return internet.violations;
    } finally {
      await internet.close();
    }
  }

  it('has nothing against a proper question', async () => {
    expect(await violationsOf('5.1.0.1', 'example.com.')).toEqual([]);
    expect(await violationsOf('2a0b:1::2', 'nothing.com.')).toEqual([]);
  });

  it('writes down who is asked from outside of it, or about what is not theirs', async () => {
    expect(await violationsOf('10.0.0.1', 'example.com.')).toEqual(['10.0.0.1 is not in the world']);
    expect(await violationsOf('5.1.0.1', 'example.org.')).toEqual([
      '5.1.0.1 (a.nic.com.): example.org. NS is outside its zones',
    ]);
    expect(await violationsOf('5.1.0.1', 'secret.com.')).toEqual([
      '5.1.0.1 (a.nic.com.): secret.com. NS must not be asked here',
    ]);
  });

  it('writes down questions that are not asked as docs/rules.md "Delegation check" says', async () => {
    const at = (change: Partial<Message>) => violationsOf('5.1.0.1', 'example.com.', change);
    const who = '5.1.0.1 (a.nic.com.):';
    expect(await at({ rd: true })).toEqual([`${who} a question has RD, AA or TC`]);
    expect(await at({ edns: { ...EDNS, dnssecOk: false } })).toEqual([
      `${who} a question comes without DO, or offers another size`,
    ]);
    expect(await at(WITHOUT_EDNS)).toEqual([`${who} a question comes without EDNS`]);
  });
});

/** Time goes on by itself, from wherever it was set. */
class VirtualClock {
  #offset = 0;

  set(at: number): void {
    this.#offset = at - Date.now();
  }

  now(): number {
    return Date.now() + this.#offset;
  }
}

function hasSilence({ servers }: World, { checks }: Expectations): boolean {
  const faults = [...servers.values()].flatMap((server) => server.faults);
  return (
    faults.some(({ kind }) => SILENCES.includes(kind)) ||
    checks.some(({ before }) => before.some(({ kind }) => kind === 'down'))
  );
}

function prepare(internet: FakeInternet, { before }: ExpectedCheck): void {
  for (const { kind, words } of before) {
    if (kind === 'serve') internet.serve(words[0] ?? '', words[1] ?? '');
    else
      for (const address of words.map(canonicalAddress)) {
        if (kind === 'down') internet.silenced.add(address);
        else internet.silenced.delete(address);
      }
  }
}
