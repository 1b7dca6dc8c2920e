// Clients choose the name and so its servers. Therefore, the cost of a check is limited.

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { boundEvidence } from '../../../src/api/public/bound-evidence.ts';
import {
  judgePublicName,
  type PublicCheckLimits,
  PublicChecks,
} from '../../../src/api/public/public-checks.ts';
import type { ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf } from '../../support/world/check-evidence.ts';

const NAMES = Array.from({ length: 100 }, (_, at) => parseName(`n${at}.example.net.`));
const name = (at: number) => NAMES[at] as Name;

const evidence = (domain: Name, servers: readonly ServerEvidence[] = []) =>
  evidenceOf('', { domain, servers });

/** Walks that the test ends. */
function slowWalks(limits: Partial<PublicCheckLimits> = {}) {
  const begun: Name[] = [];
  const ends: (() => void)[] = [];
  const clock = { now: 0 };
  const checks = new PublicChecks(
    (domain) => {
      begun.push(domain);
      return new Promise((resolve) => ends.push(() => resolve(evidence(domain))));
    },
    { startEveryMs: 0, ...limits },
    () => clock.now,
  );
  return { begun, ends, clock, checks };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('public checks', () => {
  it('run two at a time; the others wait in the queue', async () => {
    const { checks, begun, ends } = slowWalks();
    const asked = [0, 1, 2, 3].map((at) => checks.ask(name(at), `192.0.2.${at}`));
    await turn();
    expect(begun).toEqual([name(0), name(1)]);
    ends[0]?.();
    await turn();
    expect(begun).toEqual([name(0), name(1), name(2)]);
    for (let at = 1; at < 4; at++) {
      ends[at]?.();
      await turn();
    }
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['seen', 'seen', 'seen', 'seen']);
  });

  it('are rejected if they wait too long or the queue is full; a failed walk releases its slot', async () => {
    const { checks, begun, ends } = slowWalks({ waiting: 1, waitMs: 1 });
    const held = [checks.ask(name(0), '192.0.2.1'), checks.ask(name(1), '192.0.2.2')];
    await turn();
    const [third, fourth] = [checks.ask(name(2), '192.0.2.3'), checks.ask(name(3), '192.0.2.4')];
    expect(await fourth).toEqual({ kind: 'busy' });
    expect(await third).toEqual({ kind: 'busy' });
    expect(begun).toHaveLength(2);
    for (const end of ends) end();
    await Promise.all(held);

    const failing = new PublicChecks(() => Promise.reject(new Error('closed')), { startEveryMs: 0 });
    for (let at = 0; at < 5; at++) await expect(failing.ask(name(at), '192.0.2.1')).rejects.toThrow('closed');
  });

  it('start once per interval, however fast the walks are', async () => {
    const { checks, begun, ends, clock } = slowWalks({ startEveryMs: 1, places: 10 });
    const asked = [0, 1, 2].map((at) => checks.ask(name(at), `192.0.2.${at}`));
    for (const count of [1, 2, 3]) {
      await until(() => begun.length === count);
      await pause(5);
      expect(begun).toHaveLength(count);
      clock.now++;
    }
    for (const end of ends) end();
    await Promise.all(asked);
  });

  it('are limited to ten a minute per IPv4 address or IPv6 /64, cached results included', async () => {
    const clock = { now: 0 };
    const limits = { startEveryMs: 0 };
    const checks = new PublicChecks(
      async (domain) => evidence(domain),
      limits,
      () => clock.now,
    );
    for (let at = 0; at < 10; at++) {
      expect((await checks.ask(name(0), `2001:db8::${at}`)).kind).toBe('seen');
      expect((await checks.ask(name(0), '192.0.2.1')).kind).toBe('seen');
    }
    clock.now = 20_000;
    expect(await checks.ask(name(0), '2001:db8::ffff:1')).toEqual({ kind: 'limited', retryAfterSeconds: 40 });
    expect(await checks.ask(name(0), '::ffff:192.0.2.1')).toEqual({ kind: 'limited', retryAfterSeconds: 40 });
    expect((await checks.ask(name(0), '2001:db8:0:1::1')).kind).toBe('seen');
    clock.now = 60_001;
    expect((await checks.ask(name(0), '192.0.2.1')).kind).toBe('seen');
  });

  it('of one name share a walk, concurrently and for five minutes', async () => {
    const { checks, begun, ends, clock } = slowWalks();
    const both = [checks.ask(name(0), '192.0.2.1'), checks.ask(name(0), '192.0.2.2')];
    await turn();
    expect(checks.last(name(0))).toBeUndefined();
    ends[0]?.();
    expect((await Promise.all(both)).map(({ kind }) => kind)).toEqual(['seen', 'seen']);
    clock.now = 299_999;
    expect((await checks.ask(name(0), '192.0.2.3')).kind).toBe('seen');
    expect(begun).toHaveLength(1);
    clock.now = 300_000;
    void checks.ask(name(0), '192.0.2.3');
    await turn();
    expect(begun).toHaveLength(2);
    expect(checks.last(name(0))).toBeDefined();
    ends[1]?.();
  });

  it('are cached in limited number and size, newest first', async () => {
    const walk = async (domain: Name) => evidence(domain);
    const few = new PublicChecks(walk, { startEveryMs: 0, kept: 3 });
    for (let at = 0; at < 10; at++) await few.ask(name(at), `192.0.2.${at}`);
    expect(few.size).toBe(3);
    expect(few.last(name(9))).toBeDefined();
    expect(few.last(name(6))).toBeUndefined();
    const small = new PublicChecks(walk, { startEveryMs: 0, keptSize: 1 });
    expect((await small.ask(name(0), '192.0.2.1')).kind).toBe('seen');
    expect(small.size).toBe(0);
  });

  it('keep a limited part of a response', () => {
    const whole = Buffer.alloc(100_000);
    const server: ServerEvidence = {
      server: name(0),
      address: '192.0.2.1',
      transport: 'tcp',
      askedAt: 0,
      rttMs: 1,
      outcome: 'referral',
      rcode: 0,
      aa: false,
      ns: NAMES,
      glue: NAMES.map((each) => ({ name: each, address: '192.0.2.1' })),
      ttl: 60,
      ds: Array.from({ length: 100 }, (_, at) => whole.subarray(at, at + 36)),
      error: undefined,
    };
    const [kept] = boundEvidence(evidence(name(0), [server])).servers;
    expect([kept?.ns.length, kept?.glue?.length, kept?.ds.length]).toEqual([32, 32, 8]);
    expect(kept?.ds.every(({ buffer }) => buffer.byteLength === 36)).toBe(true);
  });
});

describe('the name of a public check', () => {
  it.each([
    ['', 'required'],
    ['com', 'single label'],
    ['co.uk', 'public suffix'],
    ['localhost', 'single label'],
    ['a.localhost', 'reserved'],
    ['facebookcorewwwi.onion', 'reserved'],
    ['a.invalid', 'reserved'],
    ['a.test', 'reserved'],
    ['router.home.arpa', 'reserved'],
    ['192.0.2.1', 'number'],
    ['<script>alert(1)</script>.com', 'not a'],
    ['a..com', 'empty label'],
    [`${'a'.repeat(64)}.com`, 'longer than 63'],
    [`${'a.'.repeat(200)}com`, 'longer than 253'],
    ['a'.repeat(1100), 'longer than 253'],
    ['\u202e.com', 'not a valid'],
    ['xn--zzzzzz99.com', 'not a valid'],
    ['a\\000.com', 'contain escapes'],
  ])('is not %j', (text, why) => {
    expect(judgePublicName(text, false)).toMatchObject({
      kind: 'problem',
      message: expect.stringContaining(why),
    });
  });

  it.each([
    ['Shop.COM.', 'shop.com.', 'shop.com'],
    ['bücher.de', 'xn--bcher-kva.de.', 'bücher.de'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa.', '2.0.192.in-addr.arpa'],
  ])('is %j', (text, wire, unicode) => {
    expect(judgePublicName(text, false)).toEqual({ kind: 'name', name: parseName(wire), unicode });
  });
});
