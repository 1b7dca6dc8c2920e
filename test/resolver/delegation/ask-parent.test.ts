// Checks of domains whose parent does not answer ordinary queries: their results and costs.

import { describe, expect, it } from 'vitest';
import { type Rules, UNKNOWN_PENDING_MAX_MS } from '../../../src/checks/delegation/next-status.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { AttemptResult, Transport } from '../../../src/resolver/exchange/attempt-result.ts';
import { setId } from '../../../src/resolver/exchange/encode-query.ts';
import { createExchange, type Exchange } from '../../../src/resolver/exchange/exchange.ts';
import { matchReply } from '../../../src/resolver/exchange/match-reply.ts';
import { createResolver } from '../../../src/resolver/resolver.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { claimOf, judgeWorld } from '../../support/world/compare-check.ts';
import { parseExpectations } from '../../support/world/read-expectations.ts';
import { canonicalAddress, nameOf, parseWorld, type World } from '../../support/world/read-world.ts';
import { type Seen, WorldServer } from '../../support/world/world-server.ts';

interface WorldExchange {
  readonly exchange: Exchange;
  /** All queries that arrived, in order. */
  readonly seen: Seen[];
  /** Number of following packets that are lost, by address. */
  readonly losses: Map<string, number>;
  readonly violations: string[];
}

/** Omits delays, and replies from other ports. */
function worldExchange(world: World, now: () => number): WorldExchange {
  const seen: Seen[] = [];
  const violations: string[] = [];
  const losses = new Map<string, number>();
  const servers = new Map(
    [...world.servers].map(([address, script]) => {
      const zoneOf: ConstructorParameters<typeof WorldServer>[1] = (apex, variant = '') => {
        const zone = world.zones.get(apex)?.get(variant);
        if (zone === undefined) throw new Error(`there is no zone ${apex}`);
        return zone;
      };
      return [address, new WorldServer(script, zoneOf, (text) => violations.push(text))];
    }),
  );
  let id = 0;
  const transport = (over: 'udp' | 'tcp'): Transport => ({
    async ask({ address }, query, { signal, onPacket }): Promise<AttemptResult> {
      signal.throwIfAborted();
      onPacket();
      signal.throwIfAborted();
      setId(query, ++id & 0xffff);
      const at = canonicalAddress(address);
      const lost = losses.get(at) ?? 0;
      if (lost > 0) {
        losses.set(at, lost - 1);
        return { kind: 'silence', error: undefined };
      }
      const has = (kind: string) =>
        world.servers.get(at)?.faults.some((fault) => fault.kind === kind) === true;
      if (has('closed') || (over === 'tcp' && has('no-tcp'))) return { kind: 'closed', error: 'refused' };
      const received = servers.get(at)?.receive(Uint8Array.from(query), over);
      if (received === undefined) throw new Error(`no server has that address: ${at}`);
      seen.push(received.seen);
      let error: string | undefined;
      for (const { bytes, elsewhere } of received.packets) {
        const match = elsewhere ? undefined : matchReply(query, Uint8Array.from(bytes), over);
        if (match === undefined || match.kind === 'unrelated') continue;
        if (match.kind === 'reply') return { ...match, rttMs: 10 };
        if (match.kind !== 'unreadable') return match;
        error = match.error;
      }
      return { kind: 'silence', error };
    },
    close() {},
  });
  const transports = { udp: transport('udp'), tcp: transport('tcp') };
  return { exchange: createExchange({ port: 53, transports, now }), seen, losses, violations };
}

const ORDINARY_PACKETS = 3;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const BEGINNING = Date.UTC(2026, 2, 1);
const [A, B] = ['5.1.0.1', '2a0b:1::2'];
const FOREVER = new AbortController().signal;
const RULES: Rules = {
  movedAfterMs: DAY_MS,
  movedGraceMs: 14 * DAY_MS,
  pendingMaxMs: 28 * DAY_MS,
  unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS,
};
/** Has enough letters that a query in mixed case is never in lower case by chance. */
const DELEGATED = 'a-name-with-very-many-letters-that-is-delegated-to-us.com.';
const ELSEWHERE = 'a-name-with-very-many-letters-that-is-delegated-elsewhere.com.';
const UNREGISTERED = 'a-name-with-very-many-letters-that-is-not-registered.com.';

/** A zone with ordinary servers below the awkward ones. */
const REGISTRY = 'a-registry-of-very-many-letters.com.';

/** A registry whose servers have these faults. */
function registry(faults: string) {
  const lines = faults === '' ? [] : faults.split(', ').map((fault) => `  ${fault}`);
  const world = parseWorld(
    [
      '# A registry.',
      'include internet',
      ...[`server a.nic.com. ${A}`, ...lines, `server b.nic.com. ${B}`, ...lines],
      ...[
        'server ns1.host.net. 5.2.0.1',
        `  serves ${REGISTRY}`,
        'server ns2.host.net. 5.2.0.2',
        `  serves ${REGISTRY}`,
      ],
      'zone com.',
      `  ${DELEGATED} NS ana.fleet.net.`,
      `  ${DELEGATED} NS ben.fleet.net.`,
      `  ${ELSEWHERE} NS ns1.host.net.`,
      `  ${REGISTRY} NS ns1.${REGISTRY}`,
      `  ${REGISTRY} NS ns2.${REGISTRY}`,
      `  ns1.${REGISTRY} A 5.2.0.1`,
      `  ns2.${REGISTRY} A 5.2.0.2`,
      `zone ${REGISTRY}`,
      `  @ NS ns1`,
      `  @ NS ns2`,
      `  below NS ana.fleet.net.`,
      `  below NS ben.fleet.net.`,
    ].join('\n'),
  );
  const clock = { now: BEGINNING };
  const internet = worldExchange(world, () => clock.now);
  const [root] = [...world.servers.values()];
  const resolver = createResolver({
    exchange: internet.exchange,
    rootServers: [{ name: root?.name ?? nameOf('.'), addresses: [root?.address ?? ''] }],
    allowed: [],
    rates: { async take() {} },
    hasIpv6: () => true,
    now: () => clock.now,
  });
  return { ...internet, clock, check: (domain: string) => resolver.observeDelegation(nameOf(domain)) };
}

type Evidence = Awaited<ReturnType<ReturnType<typeof registry>['check']>>;

/** Returns the status of a pending domain after a check. */
function statusAfter(evidence: Evidence): string | undefined {
  const text = `domain ${DELEGATED}\nstate pending\n\ncheck\n  verdict match\n  parent com.\n  status active`;
  const expected = parseExpectations(text);
  const claim = expected.state && claimOf(expected.state, expected.sets, BEGINNING);
  return judgeWorld(evidence, claim, expected, { rules: RULES, frozen: false }).decision?.to;
}

const neededIn = ({ servers }: Evidence) => servers.map(({ needed = [] }) => needed.join(' '));
const codesIn = (evidence: Evidence) => {
  const expected = parseExpectations(`domain ${DELEGATED}\n\ncheck\n  verdict match\n  parent com.`);
  const { judgement } = judgeWorld(evidence, undefined, expected, { rules: RULES, frozen: false });
  return judgement.findings.map(({ code }) => code);
};

/**
 * The faults | what the servers need in the first and in the last check | packets of each check, the first one with its
 * walk.
 */
const KINDS = rowsOf(`
formerr-on-edns | no_edns | no_edns | 5 2 2 2
formerr-header | no_edns | no_edns | 5 2 2 2
silent-on-edns | tcp no_edns | tcp no_edns | 9 2 2 2
silent-on-edns, no-tcp | no_edns lower_case | no_edns | 9 2 2 2
garbage-on-edns, no-tcp | no_edns lower_case | no_edns | 9 2 2 2
silent-on-case | tcp | tcp | 7 2 2 2
silent-on-case, no-tcp | no_edns lower_case | lower_case | 9 4 2 2
refused-on-case | tcp | tcp | 5 2 2 2
refused-on-case, no-tcp | lower_case | lower_case | 7 2 2 2
lower-case | tcp | tcp | 5 2 2 2
lower-case, no-tcp | lower_case | lower_case | 7 2 2 2
silent-udp | tcp | tcp | 7 2 2 2
silent-on-edns, silent-on-case | tcp no_edns | tcp no_edns | 9 2 2 2
silent-on-edns, silent-on-case, no-tcp | no_edns lower_case | no_edns lower_case | 9 4 4 2
formerr-on-edns, silent-on-case | tcp no_edns | tcp no_edns | 9 2 2 2
formerr-on-edns, silent-on-case, no-tcp | no_edns lower_case | no_edns lower_case | 9 4 4 2
formerr-on-edns, refused-on-case, no-tcp | no_edns lower_case | no_edns lower_case | 9 4 4 2
`);

describe('a parent with awkward servers', () => {
  it.each(KINDS)('that are "%s" activates a delegated domain', async (faults, first, last, packets = '') => {
    const { check, clock, violations } = registry(faults);
    const checks: Evidence[] = [];
    for (let i = 0; i < 4; i++) {
      checks.push(await check(DELEGATED));
      clock.now += MINUTE_MS;
    }
    expect(checks.map(statusAfter)).toEqual(Array(4).fill('active'));
    expect(checks.map(codesIn)).toEqual(Array(4).fill(['PARENT_AWKWARD']));
    expect(neededIn(checks[0] as Evidence)).toEqual([first, first]);
    expect(neededIn(checks[3] as Evidence)).toEqual([last, last]);
    expect(checks.map(({ queries }) => queries).join(' ')).toBe(packets);
    expect(checks[0]?.queries).toBeLessThanOrEqual(3 * ORDINARY_PACKETS);
    expect(violations).toEqual([]);
  });

  it.each(KINDS)('that are "%s" leaves other domains pending', async (faults) => {
    const elsewhere = await registry(faults).check(ELSEWHERE);
    expect([statusAfter(elsewhere), ...codesIn(elsewhere)]).toEqual([
      'pending',
      'NS_FOREIGN',
      'PARENT_AWKWARD',
    ]);
    const unregistered = await registry(faults).check(UNREGISTERED);
    expect([statusAfter(unregistered), ...codesIn(unregistered)]).toEqual([
      'pending',
      'NOT_REGISTERED',
      'PARENT_AWKWARD',
    ]);
  });

  it.each(KINDS)('that are "%s" does not keep a check from a zone below it', async (faults) => {
    const evidence = await registry(faults).check(`below.${REGISTRY}`);
    expect([statusAfter(evidence), ...codesIn(evidence)]).toEqual(['active']);
    expect(evidence.queries).toBeLessThanOrEqual(3 * (ORDINARY_PACKETS + 1));
  });

  it('gets at most four packets for each query, even if a fifth one would be answered', async () => {
    const { check } = registry('silent first 1, refused-on-case, formerr-on-edns, no-tcp');
    const first = await check(DELEGATED);
    expect([first.queries, codesIn(first)]).toEqual([9, ['PARENT_UNREACHABLE']]);
    expect(codesIn(await check(DELEGATED))).toEqual(['PARENT_AWKWARD']);
  });

  it('is not considered ordinary if servers that drop mixed case answer a name without letters', async () => {
    const { exchange } = registry('silent-on-case');
    const ask = (domain: string) =>
      exchange.ask(A, { name: nameOf(domain), type: TYPE.NS }, { signal: FOREVER, onPacket: () => {} });
    expect(await ask('.')).toMatchObject({ kind: 'reply', transport: 'udp' });
    expect(await ask(DELEGATED)).toMatchObject({ kind: 'reply', needed: ['tcp'] });
  });

  it('is not considered ordinary if servers that refuse mixed case refuse a zone that they do not serve', async () => {
    const { exchange } = registry('refused-on-case, rcode REFUSED on other.');
    const ask = (domain: string) =>
      exchange.ask(A, { name: nameOf(domain), type: TYPE.NS }, { signal: FOREVER, onPacket: () => {} });
    expect(await ask('a-zone-of-a-customer.other.')).toMatchObject({ kind: 'reply', transport: 'udp' });
    expect(await ask(DELEGATED)).toMatchObject({ kind: 'reply', needed: ['tcp'] });
  });

  it('is queried the ordinary way first after its needs have expired, then as needed', async () => {
    const { check, clock, seen } = registry('silent-on-case');
    await check(DELEGATED);
    seen.length = 0;
    clock.now += 11 * MINUTE_MS;
    expect((await check(DELEGATED)).queries).toBe(4);
    expect(seen.map(({ transport }) => transport).sort()).toEqual(['tcp', 'tcp', 'udp', 'udp']);
    clock.now += 11 * MINUTE_MS; // the needs are now remembered for 20 minutes
    expect((await check(DELEGATED)).queries).toBe(2);
  });
});

describe('a parent with ordinary servers', () => {
  const LOST = 2;

  it('needs nothing, even after a truncated reply', async () => {
    for (const faults of ['', 'truncate', 'ignores-edns']) {
      const { check } = registry(faults);
      const evidence = await check(DELEGATED);
      expect([statusAfter(evidence), neededIn(evidence), codesIn(evidence)]).toEqual([
        'active',
        ['', ''],
        [],
      ]);
      if (faults !== 'truncate') expect(evidence.queries).toBe(ORDINARY_PACKETS);
    }
  });

  it('is queried over TCP while packets get lost, and over UDP again ten minutes later', async () => {
    const { check, clock, losses } = registry('');
    for (const address of [A, B]) losses.set(address, LOST);
    expect(neededIn(await check(DELEGATED))).toEqual(['tcp', 'tcp']);
    clock.now += 10 * MINUTE_MS;
    const evidence = await check(DELEGATED);
    expect([evidence.queries, neededIn(evidence)]).toEqual([2, ['', '']]);
  });

  it('never receives a weaker query over UDP once it has answered, however many packets are lost', async () => {
    for (const faults of ['', 'no-tcp']) {
      const { check, seen, losses } = registry(faults);
      await check(DELEGATED);
      for (let lost = 1; lost <= 4; lost++) {
        for (const address of [A, B]) losses.set(address, lost);
        const evidence = await check(DELEGATED);
        expect(neededIn(evidence)).toEqual(['', '']);
        for (const address of [A, B]) losses.delete(address);
        expect((await check(DELEGATED)).queries).toBe(2); // nothing was stored
      }
      const overUdp = seen.filter(({ transport }) => transport === 'udp');
      expect(overUdp.every(({ edns }) => edns)).toBe(true);
      const long = overUdp.filter(({ name }) => name === nameOf(DELEGATED));
      expect(long.every(({ name, spelled }) => name !== spelled)).toBe(true);
    }
  });

  it('gets at most four packets for each query at a silent address', async () => {
    const { check, clock } = registry('silent');
    for (const packets of [9, 8, 8]) {
      expect((await check(DELEGATED)).queries).toBe(packets);
      clock.now += MINUTE_MS;
    }
  });

  it('gets one more packet per query if its servers refuse all, and nothing is concluded from that', async () => {
    for (const rcode of ['REFUSED', 'SERVFAIL']) {
      const { check } = registry(`rcode ${rcode}`);
      const first = await check(DELEGATED);
      const second = await check(DELEGATED);
      expect([first.queries, second.queries]).toEqual([5, 4]);
      for (const { servers } of [first, second])
        expect(servers.map(({ outcome, transport }) => `${outcome} ${transport}`)).toEqual(
          Array(2).fill(`${rcode.toLowerCase()} udp`),
        );
    }
  });
});
