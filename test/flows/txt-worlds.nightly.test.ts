// TXT verification in small internets, one per folder of fixtures/txt-worlds: real packets to servers that are behind, lame,
// liars or wildcards, and what their words mean together.

import { describe, expect, it } from 'vitest';
import { judgeTxt } from '../../src/checks/txt/judge-txt.ts';
import type { TxtEvidence, TxtServerEvidence } from '../../src/checks/txt/txt-evidence.ts';
import type { TxtJudgement } from '../../src/checks/txt/txt-judgement.ts';
import { printName } from '../../src/dns/name.ts';
import { createExchange } from '../../src/resolver/exchange/exchange.ts';
import { createResolver } from '../../src/resolver/resolver.ts';
import { AddressRates } from '../../src/resolver/state/rate-leases.ts';
import { type ExpectedTxtCheck, parseTxtExpectations } from '../support/challenge/read-txt-expectations.ts';
import { FakeInternet } from '../support/world/fake-internet.ts';
import {
  canonicalAddress,
  type FaultKind,
  readWorld,
  readWorldFile,
  type World,
  worldFolders,
} from '../support/world/read-world.ts';

const TRIES = 2;
/** Where every server answers, time makes no difference: not on a busy machine either. */
const TIMEOUT_MS = 3000;
const TIMEOUT_FOR_SILENCE_MS = 400;
const SILENCES: readonly FaultKind[] = [
  'silent',
  'silent-tcp',
  'wrong-id',
  'wrong-question',
  'wrong-source',
  'garbage',
  'loop-pointer',
];

const scenarios = worldFolders('txt-worlds').map((folder) => ({
  folder,
  world: readWorld(folder, 'txt-worlds'),
  expected: parseTxtExpectations(
    readWorldFile(folder, 'expect.txt', 'txt-worlds'),
    `fixtures/txt-worlds/${folder}/expect.txt`,
  ),
}));

describe('a TXT verification', () => {
  it.concurrent.for(
    scenarios.map((scenario) => [`${scenario.folder}: ${scenario.world.title}`, scenario] as const),
  )('%s', async ([, { world, expected }]) => {
    const internet = await FakeInternet.start(world);
    const { host, value, untrusted, check } = expected;
    const resolver = resolverIn(internet, world);
    try {
      const evidence = await resolver.observeTxt(host);
      const judgement = judgeTxt(evidence, { value, untrusted });
      expect(
        { ...outcomeOf(check, evidence, judgement), violations: internet.violations },
        printEvidence(evidence, judgement),
      ).toEqual({ ...wantedOf(check), violations: [] });
      expect(evidence.queries, 'packets').toBeLessThanOrEqual(check.packets);
      expect(internet.seen.length, 'packets that arrived').toBeLessThanOrEqual(evidence.queries);
    } finally {
      await resolver.close();
      await internet.close();
    }
  });
});

/** The world's recursive servers are its public resolvers. */
function resolverIn(internet: FakeInternet, world: World) {
  const servers = [...world.servers.values()];
  const isSilent = servers.some(({ faults }) => faults.some(({ kind }) => SILENCES.includes(kind)));
  const timeoutMs = isSilent ? TIMEOUT_FOR_SILENCE_MS : TIMEOUT_MS;
  const ways = { port: 53, timeoutMs, tries: TRIES, route: internet.route };
  const addresses = servers.filter(({ recursive }) => recursive).map(({ address }) => address);
  const publicResolvers = {
    exchange: createExchange({ ...ways, recursive: true }),
    addresses,
    rates: new AddressRates(20, undefined, Date.now),
  };
  return createResolver({
    exchange: createExchange(ways),
    rootServers: internet.rootServers(),
    allowed: [],
    rates: new AddressRates(50, undefined, Date.now),
    hasIpv6: () => world.hasIpv6,
    ...(addresses.length > 0 && { publicResolvers }),
  });
}

type Outcome = Record<string, unknown>;

function outcomeOf(check: ExpectedTxtCheck, evidence: TxtEvidence, judgement: TxtJudgement): Outcome {
  const { verdict, found, asked, servers, resolvers, message } = judgement;
  const last = evidence.links.at(-1)?.servers ?? [];
  const lines = servers.map(({ address, outcome }) => {
    const said = last.find((server) => server.address === address);
    // without a reply there is no transport
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

function wantedOf({ verdicts, links, servers, resolvers, message }: ExpectedTxtCheck): Outcome {
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

/** For the reader of a failed test. */
function printEvidence({ links, siblings, failure, queries }: TxtEvidence, judgement: TxtJudgement): string {
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
