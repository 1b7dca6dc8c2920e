// Delegation checks, checks of the delegated zone and TXT verifications in small internets, one per folder of fixtures/worlds,
// child-worlds and txt-worlds: real packets to servers that are slow, lame, misconfigured or lying, then the verdict and findings.

import { describe, expect, it } from 'vitest';
import { CHILD_CODE_LIST } from '../../src/checks/child/child-codes.ts';
import { judgeChild } from '../../src/checks/child/judge-child.ts';
import { readAsnDb } from '../../src/checks/child/read-asn-db.ts';
import type { HeldZone } from '../../src/checks/delegation/held-zone.ts';
import { judgeTxt } from '../../src/checks/txt/judge-txt.ts';
import type { TxtEvidence, TxtServerEvidence } from '../../src/checks/txt/txt-evidence.ts';
import type { TxtJudgement } from '../../src/checks/txt/txt-judgement.ts';
import {
  isWithin,
  labelCount,
  labelsOf,
  type Name,
  nameInRdata,
  prependLabel,
  printName,
} from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { createExchange } from '../../src/resolver/exchange/exchange.ts';
import { createResolver } from '../../src/resolver/resolver.ts';
import { AddressRates } from '../../src/resolver/state/rate-leases.ts';
import type { Zone } from '../../src/zone/zone.ts';
import { findAnswer } from '../support/reference/find-answer.ts';
import {
  claimOf,
  judgeWorld,
  outcomeOf,
  printDifferences,
  printEvidence,
} from '../support/world/compare-check.ts';
import { FakeInternet } from '../support/world/fake-internet.ts';
import { RULES } from '../support/world/made-claims.ts';
import { readChildExpectations } from '../support/world/read-child-expectations.ts';
import { type ExpectedCheck, parseExpectations } from '../support/world/read-expectations.ts';
import {
  type Block,
  canonicalAddress,
  type FaultKind,
  nameOf,
  parseBlocks,
  printAddress,
  readWorld,
  readWorldFile,
  type World,
  worldFolders,
} from '../support/world/read-world.ts';
import type { Seen } from '../support/world/world-server.ts';

function heldZoneFor(domain: Name, zones: readonly Zone[]): HeldZone | undefined {
  const [zone] = zones
    .filter(({ apex }) => apex !== domain && isWithin(domain, apex))
    .sort((a, b) => labelCount(b.apex) - labelCount(a.apex));
  return zone === undefined ? undefined : heldIn(zone, domain);
}

function heldIn(zone: Zone, domain: Name): HeldZone {
  const cut = topmostCut(zone, domain);
  const sets = cut === undefined ? undefined : zone.nodes.get(cut)?.sets;
  const ns = sets?.get(TYPE.NS);
  const names = ns?.rdata.map((rdata) => nameInRdata(rdata)) ?? [];
  const answer = findAnswer(new Map([[zone.apex, zone]]), domain, TYPE.NS);
  const glue = names.flatMap((name) =>
    [TYPE.A, TYPE.AAAA].flatMap((type) =>
      (zone.nodes.get(name)?.sets.get(type)?.rdata ?? []).map((rdata) => ({
        name,
        address: printAddress(rdata),
      })),
    ),
  );
  return {
    zone: zone.apex,
    cut,
    ns: names,
    ds: sets?.get(TYPE.DS)?.rdata ?? [],
    glue,
    ttl: ns?.ttl ?? zone.negativeTtl,
    exists: answer.kind !== 'nxdomain',
    alias: cut === undefined && answer.answer.some(({ type }) => type === TYPE.CNAME || type === TYPE.DNAME),
  };
}

function topmostCut(zone: Zone, domain: Name): Name | undefined {
  let name = zone.apex;
  const below = labelsOf(domain).slice(0, labelCount(domain) - labelCount(zone.apex));
  for (const label of below.reverse()) {
    name = prependLabel(label, name) as Name;
    if (zone.nodes.get(name)?.sets.has(TYPE.NS)) return name;
  }
  return undefined;
}

interface ExpectedTxtCheck {
  /** Any of these results, because the outcome is random. */
  readonly verdicts: readonly string[];
  /** `HOST ZONE`. Undefined if it is not compared. */
  readonly links: readonly string[] | undefined;
  /** `ADDRESS OUTCOME`, with ` tcp` if the reply came over TCP, and `none` for a nameserver without an address. */
  readonly servers: readonly string[] | undefined;
  /** `ADDRESS OUTCOME`. */
  readonly resolvers: readonly string[];
  readonly packets: number;
  readonly message: string | undefined;
}

interface TxtExpectations {
  /** Where the TXT record must be. */
  readonly host: Name;
  readonly value: string;
  readonly untrusted: ReadonlySet<Name>;
  readonly check: ExpectedTxtCheck;
}

const CHALLENGE = '_svc-challenge'; // docs/rules.md "TXT verification"
const DEFAULT_VALUE = 'svc-verify=abcdefghijklmnopqrstuvwxyz234567';
const DEFAULT_PACKETS = 60;

function parseTxtExpectations(text: string, what = 'expect.txt'): TxtExpectations {
  try {
    return expectationsOf(parseBlocks(text));
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
}

function expectationsOf(blocks: readonly Block[]): TxtExpectations {
  const found = new Map(blocks.map((block) => [block.words[0] ?? '', block]));
  const stranger = [...found.keys()].find(
    (word) => !['domain', 'value', 'untrusted', 'check'].includes(word),
  );
  if (stranger !== undefined) throw new Error(`"${stranger}" means nothing`);
  const check = found.get('check');
  if (check === undefined) throw new Error('there is no check');
  return {
    host: nameOf(`${CHALLENGE}.${found.get('domain')?.words[1]}`),
    value: found.get('value')?.words[1] ?? DEFAULT_VALUE,
    untrusted: new Set(found.get('untrusted')?.words.slice(1).map(nameOf)),
    check: readCheck(check),
  };
}

function readCheck({ body, at }: Block): ExpectedTxtCheck {
  const linesOf = (keyword: string) => body.filter(({ words }) => words[0] === keyword);
  const stranger = body.find(
    ({ words }) => !['verdict', 'link', 'server', 'resolver', 'packets', 'message'].includes(words[0] ?? ''),
  );
  if (stranger !== undefined) throw new Error(`line ${stranger.at}: "${stranger.line}" means nothing`);
  const rest = ({ line, words }: Block) => line.slice((words[0] as string).length).trim();
  const [verdict] = linesOf('verdict');
  if (verdict === undefined) throw new Error(`line ${at}: a check has no verdict`);
  const servers = linesOf('server');
  const links = linesOf('link');
  const [packets] = linesOf('packets');
  const [message] = linesOf('message');
  return {
    verdicts: rest(verdict).split('|'),
    links: links.length === 0 ? undefined : links.map(rest),
    servers: servers.length === 0 ? undefined : servers.map(serverLine),
    resolvers: linesOf('resolver').map(serverLine),
    packets: packets === undefined ? DEFAULT_PACKETS : Number(rest(packets)),
    message: message && rest(message),
  };
}

function serverLine({ words: [, where = '', ...outcome] }: Block): string {
  return [where === 'none' ? where : canonicalAddress(where), ...outcome].join(' ');
}

const BEGINNING = Date.UTC(2026, 2, 1);
/** If every server answers, timing makes no difference, even on a busy machine. */
const TIMEOUT_MS = 3000;
const SILENCES: readonly FaultKind[] = [
  'silent',
  'silent-on-edns',
  'silent-on-case',
  'silent-udp',
  'silent-tcp',
  'wrong-id',
  'wrong-question',
  'wrong-source',
  'garbage',
  'garbage-on-edns',
  'loop-pointer',
  'short',
];

const hasSilence = ({ servers }: World) =>
  [...servers.values()].some(({ faults }) => faults.some(({ kind }) => SILENCES.includes(kind)));

/** Without silent servers, the timeout is long, so that a busy machine makes no difference. */
const resolverIn = (
  internet: FakeInternet,
  world: World,
  timeoutMs: number,
  more: Partial<Parameters<typeof createResolver>[0]>,
) =>
  createResolver({
    exchange: createExchange({ port: 53, timeoutMs, route: internet.route }),
    rootServers: internet.rootServers(),
    allowed: [],
    rates: new AddressRates(50, undefined, Date.now),
    hasIpv6: () => world.hasIpv6,
    ...more,
  });

const scenarios = worldFolders().map((folder) => ({
  folder,
  world: readWorld(folder),
  expected: parseExpectations(readWorldFile(folder, 'expect.txt'), `fixtures/worlds/${folder}/expect.txt`),
}));

/** Queries of all worlds. */
const questions: Seen[] = [];

describe('a delegation check', () => {
  it.concurrent.for(
    scenarios.map((scenario) => [`${scenario.folder}: ${scenario.world.title}`, scenario] as const),
  )('%s', async ([, { world, expected }]) => {
    const internet = await FakeInternet.start(world);
    const clock = new VirtualClock();
    const isSilent =
      hasSilence(world) || expected.checks.some(({ before }) => before.some(({ kind }) => kind === 'down'));
    const timeoutMs = isSilent ? 1000 : TIMEOUT_MS;
    const exchange = createExchange({ port: 53, timeoutMs, now: () => clock.now(), route: internet.route });
    const resolver = resolverIn(internet, world, timeoutMs, { exchange, now: () => clock.now() });
    try {
      let claim = expected.state && claimOf(expected.state, expected.sets, BEGINNING);
      for (const [index, check] of expected.checks.entries()) {
        const at = BEGINNING + check.at;
        clock.set(at);
        prepare(internet, check);
        const before = internet.seen.length;
        const zones = check.held.flatMap((apex) => world.held.get(apex) ?? []);
        expect(zones.length, 'zones that the world holds').toBe(check.held.length);
        const held = heldZoneFor(expected.domain, zones);
        const evidence = await resolver.observeDelegation(
          expected.domain,
          held === undefined ? {} : { held },
        );
        // A check takes a different time in each run. The status depends only on the times in expect.txt.
        const timed = { ...evidence, startedAt: at, finishedAt: at };
        const judged = judgeWorld(timed, claim, expected, { rules: RULES, frozen: check.frozen });
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

describe('the queries of all these checks', () => {
  it('have mixed case that differs each time, so that a forger cannot predict it', () => {
    const overUdp = questions.filter(({ transport }) => transport === 'udp');
    const long = overUdp.filter(({ name }) => printName(name).replace(/[^a-z]/g, '').length >= 10);
    const mixed = long.filter(({ name, spelled }) => name !== spelled);
    expect(long.length).toBeGreaterThan(100);
    expect(mixed.length / long.length).toBeGreaterThan(0.95);
    const spellings = new Set(
      long.filter(({ name }) => name === nameOf('example.com.')).map(({ spelled }) => spelled),
    );
    expect(spellings.size).toBeGreaterThan(50);
  });

  it('have ids across the whole range', () => {
    expect(new Set(questions.map(({ id }) => id)).size).toBeGreaterThan(questions.length * 0.9);
    for (let quarter = 0; quarter < 4; quarter++) {
      expect(questions.some(({ id }) => id >> 14 === quarter)).toBe(true);
    }
  });
});

describe('a check of the delegated zone', () => {
  const folders = worldFolders('child-worlds');

  it.concurrent.for(
    folders.map((folder) => [folder, readWorld(folder, 'child-worlds')] as const),
  )('%s', async ([folder, world]) => {
    const { domain, own, asn, findings: wanted } = readChildExpectations(folder);
    const internet = await FakeInternet.start(world);
    const resolver = resolverIn(internet, world, hasSilence(world) ? 300 : TIMEOUT_MS, {});
    try {
      const evidence = await resolver.observeChild(domain, { own: own.map((name) => [name]) });
      const asnOf = asn === '' ? undefined : readAsnDb(asn);
      const findings = judgeChild(evidence, { own: new Set(own), asnOf });
      const printed = findings.map(({ code, place }) => (place === 'operator' ? `${code}@operator` : code));
      expect(printed.sort()).toEqual([...wanted].sort());
      expect(evidence.queries).toBeLessThanOrEqual(40);
      expect(internet.seen.length).toBeLessThanOrEqual(evidence.queries);
      // A server that did not reply is queried again without EDNS.
      expect(internet.violations.filter((text) => !text.includes('without EDNS'))).toEqual([]);
    } finally {
      await resolver.close();
      await internet.close();
    }
  });

  it('covers every code with a world', () => {
    const shown = folders.flatMap((folder) => readChildExpectations(folder).findings);
    const codes = new Set(shown.map((text) => text.split('@')[0]));
    expect(CHILD_CODE_LIST.filter((code) => !codes.has(code))).toEqual([]);
  });
});

describe('a TXT verification', () => {
  const worlds = worldFolders('txt-worlds').map((folder) => {
    const text = readWorldFile(folder, 'expect.txt', 'txt-worlds');
    const expected = parseTxtExpectations(text, `fixtures/txt-worlds/${folder}/expect.txt`);
    return { folder, world: readWorld(folder, 'txt-worlds'), expected };
  });

  it.concurrent.for(
    worlds.map((scenario) => [`${scenario.folder}: ${scenario.world.title}`, scenario] as const),
  )('%s', async ([, { world, expected }]) => {
    const internet = await FakeInternet.start(world);
    const { host, value, untrusted, check } = expected;
    const timeoutMs = hasSilence(world) ? 400 : TIMEOUT_MS;
    /** The world's recursive servers, which serve as its public resolvers. */
    const addresses = [...world.servers.values()].flatMap(({ recursive, address }) =>
      recursive ? [address] : [],
    );
    const publicResolvers = {
      exchange: createExchange({ port: 53, timeoutMs, route: internet.route, recursive: true }),
      addresses,
      rates: new AddressRates(20, undefined, Date.now),
    };
    const resolver = resolverIn(internet, world, timeoutMs, addresses.length > 0 ? { publicResolvers } : {});
    try {
      const evidence = await resolver.observeTxt(host);
      const judgement = judgeTxt(evidence, { value, untrusted });
      expect(
        { ...txtOutcomeOf(check, evidence, judgement), violations: internet.violations },
        printTxtEvidence(evidence, judgement),
      ).toEqual({ ...wantedTxtOf(check), violations: [] });
      expect(evidence.queries, 'packets').toBeLessThanOrEqual(check.packets);
      expect(internet.seen.length, 'packets that arrived').toBeLessThanOrEqual(evidence.queries);
    } finally {
      await resolver.close();
      await internet.close();
    }
  });
});

/** The time advances from the value that was set last. */
class VirtualClock {
  #offset = 0;

  set(at: number): void {
    this.#offset = at - Date.now();
  }

  now(): number {
    return Date.now() + this.#offset;
  }
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

function txtOutcomeOf(check: ExpectedTxtCheck, evidence: TxtEvidence, judgement: TxtJudgement): object {
  const { verdict, found, asked, servers, resolvers, message } = judgement;
  const last = evidence.links.at(-1)?.servers ?? [];
  const lines = servers.map(({ address, outcome }) => {
    const said = last.find((server) => server.address === address);
    // without a reply, there is no transport
    return `${placeOf(address)} ${outcome}${said?.transport === 'tcp' && outcome !== 'error' ? ' tcp' : ''}`;
  });
  return {
    verdict: check.verdicts.includes(verdict) ? check.verdicts[0] : verdict,
    counts: [found, asked],
    ...(check.links === undefined
      ? {}
      : { links: evidence.links.map(({ host, zone }) => `${printName(host)} ${printName(zone)}`) }),
    ...(check.servers === undefined ? { counts: undefined } : { servers: lines.sort() }),
    resolvers: resolvers.map(({ address, outcome }) => `${placeOf(address)} ${outcome}`).sort(),
    ...(check.message === undefined ? {} : { message }),
  };
}

function wantedTxtOf({ verdicts, links, servers, resolvers, message }: ExpectedTxtCheck): object {
  const found = servers?.filter((line) => line.split(' ')[1] === 'found');
  return {
    verdict: verdicts[0],
    counts: servers && [found?.length, servers.length],
    ...(links === undefined ? {} : { links }),
    ...(servers === undefined ? {} : { servers: [...servers].sort() }),
    resolvers: [...resolvers].sort(),
    ...(message === undefined ? {} : { message }),
  };
}

function placeOf(address: string): string {
  return address === '' ? 'none' : canonicalAddress(address);
}

/** Printed if the test fails. */
function printTxtEvidence(
  { links, siblings, failure, queries }: TxtEvidence,
  judgement: TxtJudgement,
): string {
  const line = ({ address, outcome, target, error }: TxtServerEvidence) =>
    [placeOf(address), outcome, target && printName(target), error && `(${error})`].filter(Boolean).join(' ');
  const told = links.map(
    ({ host, zone, servers, again }) =>
      `${printName(host)} in ${printName(zone)}: ${servers.map(line).join(', ')}; again ${again.map(line).join(', ')}`,
  );
  const beside = siblings.map(
    ({ name, address, outcome, targets }) =>
      `${printName(name)} at ${address} ${outcome} ${targets.map(printName).join(' → ')}`,
  );
  return [...told, ...beside, failure?.message ?? '', `${queries} packets`, judgement.message].join('\n');
}
