// Checks whose changes require the agreement of observers elsewhere, with a real Postgres. The test plays the
// observers: it takes their jobs and answers with what their network shows.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { encodeEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { Slots } from '../../../src/checks/shares/slots.ts';
import type { Name } from '../../../src/dns/name.ts';
import { listChecks } from '../../../src/store/checks/check-runs.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { encodeNameColumn } from '../../../src/store/postgres/name-column.ts';
import { saveVantageAnswer, takeVantageJobs } from '../../../src/store/vantage/vantage-jobs.ts';
import { addVantage, noteVantageSeen } from '../../../src/store/vantage/vantages.ts';
import { type CheckOutcome, createChecker } from '../../../workers/jobs/check-delegation.ts';
import { VantageAsker } from '../../../workers/vantage/ask-vantages.ts';
import { asRole, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { RULES } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { evidenceOf, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
const FOREIGN = ['ns1.elsewhere.test.', 'ns2.elsewhere.test.'];
const HOUR_MS = 3_600_000;

const { db, url, query } = sharedDatabase();
let worker: TestDatabase['db'];
let domainId: number;
let stopObservers: () => Promise<void>;
beforeEach(async () => {
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  const accountId = await newAccount(db, 'me@example.org');
  domainId = (await newDomain(db, accountId)).id;
  stopObservers = async () => {};
});
afterEach(async () => {
  await stopObservers();
  await worker.destroy();
});

/**
 * What each observer sees. Undefined: it is unavailable. `new`: it has never run. Null: it takes its jobs and never
 * answers.
 */
type Elsewhere = Readonly<Record<string, Said | 'new' | null | undefined>>;

async function observe(elsewhere: Elsewhere, networkOf = (name: string) => `net-${name}`): Promise<string[]> {
  await stopObservers();
  await query`truncate vantages cascade`;
  const taken: string[] = [];
  for (const [name, said] of Object.entries(elsewhere)) {
    await addVantage(db, { name, network: networkOf(name), publicKey: name, address: null });
    if (said !== 'new') await noteVantageSeen(db, name, null);
    if (said === undefined)
      await query`update vantages set seen_at = seen_at - interval '2 days' where name = ${name}`;
  }
  const stopping = new AbortController();
  const running = Object.entries(elsewhere).map(async ([name, said]) => {
    while (said !== undefined && said !== 'new' && !stopping.signal.aborted) {
      for (const job of await takeVantageJobs(db, name, 16)) {
        taken.push(name);
        if (said === null) continue;
        const nameText = encodeNameColumn(job.name);
        const evidence = JSON.parse(JSON.stringify(encodeEvidence(evidenceOf(job.name, said))));
        await saveVantageAnswer(db, { id: job.id, vantage: name, nameText, evidence });
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
  stopObservers = async () => {
    stopping.abort();
    await Promise.all(running);
  };
  return taken;
}

async function check(
  here: Said,
  {
    options = {},
    more = {},
    signal = new AbortController().signal,
  }: {
    options?: ConstructorParameters<typeof VantageAsker>[1];
    more?: object;
    signal?: AbortSignal;
  } = {},
): Promise<Extract<CheckOutcome, { kind: 'saved' }>> {
  const outcomes: CheckOutcome[] = [];
  const run = createChecker({
    db: worker,
    resolver: {
      observeDelegation: async (domain: Name): Promise<Evidence> => evidenceOf(domain, here, more),
    },
    rules: RULES,
    breaker: { isFrozen: () => false, count: () => {} },
    vantages: new VantageAsker(worker, { pollMs: 10, deadlineMs: 1500, ...options }),
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  await run({ domainId, kind: 'operator' }, { signal, again: false });
  return outcomes[0] as Extract<CheckOutcome, { kind: 'saved' }>;
}

const status = async () => (await loadDomainById(db, domainId))?.status;
const codes = async () => (await loadDomainById(db, domainId))?.findings.map(({ code }) => code);
const newest = async () => (await listChecks(db, domainId, { limit: 1 }))[0];
const views = async () =>
  (await newest())?.vantages?.map(({ label, word, kind }) => `${label} ${word} ${kind}`);

describe('an activation', () => {
  it.each<[string, Elsewhere, readonly string[] | undefined]>([
    [
      'two of two observers agree',
      { a: OURS, b: OURS },
      ['net-a agrees delegated', 'net-b agrees delegated'],
    ],
    ['two of three are unavailable', { a: OURS, b: undefined, c: undefined }, undefined],
    ['one never answers, and the other is unavailable', { a: OURS, b: null, c: undefined }, undefined],
    ['only one of two has ever run: none is asked', { a: FOREIGN, b: 'new' }, undefined],
    ['all are in one network: none is asked', { a1: FOREIGN, a2: FOREIGN }, undefined],
  ])('happens if %s', async (_, elsewhere, told) => {
    await observe(elsewhere, (name) => `net-${name[0]}`);
    expect(await check(OURS)).toMatchObject({ kind: 'saved', verdict: 'match' });
    expect(await status()).toBe('active');
    if (told !== undefined) expect(await views()).toEqual(told);
  });

  it.each<[string, Elsewhere, string]>([
    [
      'one of three agrees, and one is unavailable',
      { a: OURS, b: FOREIGN, c: undefined },
      'VANTAGES_DISAGREE',
    ],
    ['none observes anything', { a: 'timeout', b: 'servfail', c: undefined }, 'VANTAGES_AWAY'],
    ['none answers before the deadline', { a: null, b: null }, 'VANTAGES_AWAY'],
  ])('waits if %s', async (_, elsewhere, code) => {
    await observe(elsewhere);
    expect(await check(OURS)).toMatchObject({ kind: 'saved', verdict: 'unknown', transition: undefined });
    expect(await status()).toBe('pending');
    expect(await codes()).toEqual([code]);
  });

  it('happens at the next check once the others observe it', async () => {
    await observe({ a: FOREIGN, b: FOREIGN });
    await check(OURS);
    // One of two that observes something else decides. Which one answers first is open.
    expect((await newest())?.findings[0]?.message).toMatch(
      /From here: ns1\.example\.net and ns2\.example\.net; from net-[ab]: ns1\.elsewhere\.test and ns2\.elsewhere\.test/,
    );
    await observe({ a: OURS, b: OURS });
    await check(OURS);
    expect(await status()).toBe('active');
  });

  it('that waits does not make the next check rarer', async () => {
    await observe({ a: undefined, b: undefined });
    for (let i = 0; i < 12; i++) await check(OURS);
    const rows = await query<{ unknowns: number; seconds: number }>`
      select unknowns, interval_seconds as seconds from domain_checks`;
    expect(rows).toEqual([{ unknowns: 0, seconds: 60 }]);
  });
});

describe('a move', () => {
  it('waits if only this network observes that the delegation is missing, and loses no misses', async () => {
    await observe({});
    await check(OURS);
    for (let i = 0; i < 2; i++) await check(FOREIGN);
    await query`update domain_checks set first_miss_at = first_miss_at - interval '2 days'`;
    await observe({ a: OURS, b: OURS, c: OURS });
    expect(await check(FOREIGN)).toMatchObject({ verdict: 'unknown', transition: undefined });
    expect(await status()).toBe('active');
    const told = await views(); // two decide; the third may be late
    expect(told?.filter((view) => view.endsWith('differs delegated')).length).toBeGreaterThanOrEqual(2);
  });

  it('causes no query of observers before its third miss', async () => {
    await observe({});
    await check(OURS);
    const taken = await observe({ a: OURS, b: OURS });
    await check(FOREIGN);
    await check(FOREIGN);
    expect(taken).toEqual([]);
    expect((await newest())?.vantages).toBeUndefined();
  });
});

it('observers are not asked about a parent that this fleet serves', async () => {
  const taken = await observe({ a: FOREIGN, b: FOREIGN });
  await check(OURS, { more: { transport: 'database', address: '' } });
  expect([await status(), taken]).toEqual(['active', []]);
});

it('a waiting check is slow after a second: it takes a slow slot, and ends if there is none', async () => {
  await observe({ a: null, b: null });
  const slots = new Slots(4);
  const abort = new AbortController();
  const waiting = check(OURS, { options: { slots, deadlineMs: HOUR_MS }, signal: abort.signal });
  const ended = expect(waiting).rejects.toThrow('stopped');
  await expect.poll(() => slots.slow, { timeout: 10_000 }).toBe(1);
  expect(await check(OURS, { options: { slots, deadlineMs: HOUR_MS } })).toMatchObject({
    verdict: 'unknown',
  });
  expect([slots.refused, slots.slow]).toEqual([1, 1]);
  abort.abort(new Error('stopped'));
  await ended;
  expect(slots.slow).toBe(0);
  expect(await status()).toBe('pending');
});

it('one quick voice activates no name while others may still answer and no slow slot is free', async () => {
  await observe({ a: OURS, b: null, c: null });
  const slots = new Slots(4);
  slots.takeSlow();
  expect(await check(OURS, { options: { slots, deadlineMs: HOUR_MS } })).toMatchObject({
    verdict: 'unknown',
    transition: undefined,
  });
  expect([await status(), await codes()]).toEqual(['pending', ['VANTAGES_AWAY']]);
  expect(await views()).toContain('net-a agrees delegated');
});

it('observers have 30 seconds, or less if a caller waits for the check', async () => {
  const given: number[] = [];
  for (const kind of ['background', 'operator', 'manual'] as const) {
    await query`update domain_checks set due_at = now(), next_at = now()`;
    const run = createChecker({
      db: worker,
      resolver: { observeDelegation: async (domain: Name): Promise<Evidence> => evidenceOf(domain, OURS) },
      rules: RULES,
      breaker: { isFrozen: () => false, count: () => {} },
      vantages: {
        async ask({ deadlineMs }) {
          given.push(deadlineMs);
          return { kind: 'away', views: [] };
        },
      },
      onOutcome: () => {},
    });
    await run({ domainId, kind }, { signal: new AbortController().signal, again: false });
  }
  expect(given).toEqual([30_000, 30_000, 20_000 - 12]);
});
