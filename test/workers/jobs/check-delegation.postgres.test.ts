import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { isTurn } from '../../../src/checks/delegation/breaker.ts';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { Slots } from '../../../src/checks/shares/slots.ts';
import type { Name } from '../../../src/dns/name.ts';
import type { CheckJob } from '../../../src/jobs/jobs.ts';
import type { ObserveOptions } from '../../../src/resolver/resolver.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { listChecks } from '../../../src/store/checks/check-runs.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import {
  type CheckerOptions,
  type CheckOutcome,
  createChecker,
} from '../../../workers/jobs/check-delegation.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { RULES } from '../../support/database/saved-checks.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { evidenceOf, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
const FOREIGN = ['ns1.elsewhere.test.', 'ns2.elsewhere.test.'];

const { db, query } = keptDatabase();
let accountId: number;
let domainId: number;
let name: string;
let tests = 0;
beforeEach(async () => {
  name = `example${++tests}.com.`;
  accountId = await newAccount(db, `me${tests}@example.org`);
  domainId = (await newDomain(db, accountId, name)).id;
});

interface Made {
  readonly outcomes: CheckOutcome[];
  readonly counted: { parent: string; turned: boolean }[];
  run(job?: Partial<CheckJob>, run?: { signal?: AbortSignal; again?: boolean }): Promise<CheckOutcome>;
}

function checker(
  observe: (domain: Name, options: ObserveOptions) => Promise<Evidence>,
  { isFrozen = false, ...rest }: Partial<CheckerOptions> & { isFrozen?: boolean } = {},
): Made {
  const outcomes: CheckOutcome[] = [];
  const counted: Made['counted'] = [];
  const check = createChecker({
    db,
    resolver: { observeDelegation: (domain, options = {}) => observe(domain, options) },
    rules: RULES,
    breaker: {
      isFrozen: () => isFrozen,
      count: (parent, before, after) => void counted.push({ parent, turned: isTurn(before, after) }),
    },
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...rest,
  });
  return {
    outcomes,
    counted,
    async run(job = {}, { signal = new AbortController().signal, again = false } = {}) {
      await check({ domainId, kind: 'background', ...job }, { signal, again });
      return outcomes.at(-1) as CheckOutcome;
    },
  };
}

const says = (said: Said) => async (domain: Name) => evidenceOf(domain, said);
const runs = () => listChecks(db, domainId, { limit: 100 });
const status = async () => (await loadDomainById(db, domainId))?.status;

test('a check is observed, evaluated, saved, and reported with its transition', async () => {
  const outcome = await checker(says(OURS)).run();
  expect(outcome).toMatchObject({
    kind: 'saved',
    name,
    verdict: 'match',
    transition: { from: 'pending', to: 'active' },
  });
  const saved = await runs();
  expect(saved).toHaveLength(1);
  expect(outcome.kind === 'saved' && outcome.checkId).toBe(saved[0]?.id);
  expect(await status()).toBe('active');
});

test('the job of a deleted or unchecked domain ends without an error', async () => {
  const made = checker(says(OURS));
  await changeStatus(db, { ...BY, domainId, event: 'disable' });
  expect(await made.run()).toMatchObject({ kind: 'absent' });
  await deleteDomain(db, { ...BY, domainId });
  expect(await made.run()).toMatchObject({ kind: 'absent' });
  expect(await made.run({ domainId: 999_999 })).toMatchObject({ kind: 'absent' });
});

test('a job of several domains saves each of them, although one fails and is slow, and repeats only that one', async () => {
  const others: number[] = [];
  for (const label of ['b', 'c']) others.push((await newDomain(db, accountId, `${label}.${name}`)).id);
  let isBroken = true;
  let observeLast = () => {};
  const observedLast = new Promise<void>((resolve) => {
    observeLast = resolve;
  });
  const observe = async (domain: Name) => {
    if (domain.startsWith('\x01c')) observeLast();
    if (domain.startsWith('\x01b') && isBroken) {
      await observedLast; // the third does not wait for it
      throw new Error('a bug');
    }
    return evidenceOf(domain, OURS);
  };
  const made = checker(observe, { slowAfterMs: 50 });
  await expect(made.run({ others })).rejects.toThrow('a bug');
  const reported = () => new Set(made.outcomes.splice(0).map(({ kind, job }) => `${kind} ${job.domainId}`));
  const [second, third] = others;
  expect(reported()).toEqual(new Set([`saved ${domainId}`, `saved ${third}`]));
  isBroken = false;
  await made.run({ others }, { again: true });
  expect(reported()).toEqual(new Set([`early ${domainId}`, `saved ${second}`, `early ${third}`]));
});

test('a requested check runs even if it is not due; a job that runs twice counts once', async () => {
  let observed = 0;
  const made = checker(async (domain) => {
    observed++;
    return evidenceOf(domain, FOREIGN);
  });
  expect(await made.run()).toMatchObject({ kind: 'saved' });
  expect(await made.run({}, { again: true })).toMatchObject({ kind: 'early' });
  expect((await runs()).map(({ repeated }) => repeated)).toEqual([0]);
  const request = randomUUID();
  expect(await made.run({ kind: 'manual', request })).toMatchObject({ kind: 'saved' });
  expect(await made.run({ kind: 'manual', request }, { again: true })).toMatchObject({ kind: 'repeated' });
  expect(observed).toBe(2);
  expect(await runs()).toHaveLength(2);
});

test('a domain that was checked meanwhile is skipped by a background check, and checked again for a waiting caller', async () => {
  let meanwhile = async () => {};
  const made = checker(async (domain) => {
    await meanwhile();
    return evidenceOf(domain, FOREIGN);
  });
  const once = async () => {
    meanwhile = async () => {};
    await checker(says(OURS)).run({ kind: 'operator', request: randomUUID() });
  };
  meanwhile = once;
  expect(await made.run()).toMatchObject({ kind: 'early' });
  expect((await runs()).map(({ verdict }) => verdict)).toEqual(['match']);
  meanwhile = once;
  const request = randomUUID();
  expect(await made.run({ kind: 'manual', request })).toMatchObject({ kind: 'saved', verdict: 'foreign' });
  expect(await runs()).toHaveLength(3);
});

test('a background check whose domain changes is repeated once immediately, and is due again soon', async () => {
  let changes = 1;
  let observed = 0;
  const made = checker(async (domain) => {
    observed++;
    if (changes-- > 0) await query`update domain_checks set seq = seq + 1 where domain_id = ${domainId}`;
    return evidenceOf(domain, FOREIGN);
  });
  expect(await made.run()).toMatchObject({ kind: 'saved' });
  expect(observed).toBe(2);
  changes = 9;
  await dueNow();
  await query`
    update domain_checks set due_at = now() + interval '10 minutes' where domain_id = ${domainId}`;
  expect(await made.run()).toMatchObject({ kind: 'conflict' });
  expect(observed).toBe(4);
  const rows = await query<{ isSoon: boolean }>`
    select due_at < now() + interval '1 minute' as "isSoon" from domain_checks
    where domain_id = ${domainId}`;
  expect(rows).toEqual([{ isSoon: true }]);
});

test('an aborted run is not saved; an internal error fails the job while Postgres is available', async () => {
  const abort = new AbortController();
  const made = checker(async (domain) => {
    if (abort.signal.aborted) throw new TypeError('a bug');
    abort.abort();
    return evidenceOf(domain, 'timeout');
  });
  await expect(made.run({}, { signal: abort.signal })).rejects.toThrow('aborted');
  await expect(made.run()).rejects.toThrow('a bug');
  expect([await runs(), made.outcomes]).toEqual([[], []]);
});

test('the breaker counts only scheduled checks of active domains, and holds their status changes', async () => {
  const made = checker(says(OURS));
  await made.run();
  expect(made.counted).toEqual([]); // it was pending
  const request = () => ({ kind: 'operator', request: randomUUID() }) as const;
  await made.run(request());
  expect(made.counted).toEqual([]); // requested checks are not counted
  await dueNow();
  await made.run();
  expect(made.counted).toEqual([{ parent: 'com.', turned: false }]);

  const rules = { ...RULES, movedAfterMs: 1 };
  const frozen = checker(says(FOREIGN), { rules, isFrozen: true });
  for (let i = 0; i < 4; i++) {
    await dueNow();
    await frozen.run();
    await until(async () => Date.now() > (await runs())[0]!.finishedAt.getTime() + 2);
  }
  expect(frozen.counted).toEqual([true, false, false, false].map((turned) => ({ parent: 'com.', turned })));
  expect(await status()).toBe('active');
  expect((await runs())[0]?.findings.map(({ code }) => code)).toContain('MOVES_HELD');
  expect(await checker(says(FOREIGN), { rules }).run(request())).toMatchObject({
    transition: { from: 'active', to: 'moved' },
  });
});

/** Ends the check as the resolver does if it may not continue. */
const laterEvidence = (domain: Name): Evidence => ({
  ...evidenceOf(domain, 'timeout'),
  parent: undefined,
  servers: [],
  parentAddresses: 0,
  failure: { zone: domain, reason: 'later', message: 'x' },
});

test('a slow check takes and returns a slow slot; without one, it ends without a miss', async () => {
  await checker(says(OURS)).run();
  const slots = new Slots(4);
  const during: number[] = [];
  const slow = checker(
    async (domain, { onSlow }) => {
      const goesOn = onSlow?.() ?? true;
      during.push(slots.slow);
      return goesOn ? evidenceOf(domain, OURS) : laterEvidence(domain);
    },
    { slots },
  );
  await dueNow();
  expect(await slow.run()).toMatchObject({ kind: 'saved', verdict: 'match' });
  expect([during, slots.slow]).toEqual([[1], 0]);
  slots.takeSlow();
  await dueNow();
  expect(await slow.run()).toMatchObject({ kind: 'saved', verdict: 'unknown', transition: undefined });
  expect([during, slots.slow, slots.refused]).toEqual([[1, 1], 1, 1]);
  expect(await status()).toBe('active');
  expect((await runs())[0]).toMatchObject({ findings: [{ code: 'TRY_LATER' }] });
});

test('the interval of a silent pending domain doubles after ten checks, but not for lack of a slot', async () => {
  const interval = async () => (await loadDomainById(db, domainId))?.nsCheckIntervalSeconds;
  const later = async (domain: Name) => laterEvidence(domain);
  const intervals: unknown[] = [];
  for (const observe of [
    ...Array.from({ length: 11 }, () => says('timeout')),
    later,
    says('timeout'),
    says(FOREIGN),
  ]) {
    await dueNow();
    await checker(observe).run();
    intervals.push(await interval());
  }
  expect(intervals).toEqual([...Array.from({ length: 10 }, () => 60), 120, 120, 240, 60]);
});

test('the account is counted while its check uses a slot', async () => {
  const log: string[] = [];
  const shares = {
    begin(accountId: number) {
      log.push(`begin ${accountId}`);
      return () => void log.push('end');
    },
  };
  const observe = async (domain: Name) => {
    log.push('observe');
    return evidenceOf(domain, OURS);
  };
  await checker(observe, { shares }).run();
  expect(log).toEqual([`begin ${accountId}`, 'observe', 'end']);
  await dueNow();
  const broken = checker(async () => Promise.reject(new Error('broken')), { shares });
  await expect(broken.run()).rejects.toThrow('broken');
  expect(log.slice(3)).toEqual([`begin ${accountId}`, 'end']);
});

test('answers of parent servers that also serve the domain count once the fleet’s addresses are known', async () => {
  const held = async (domain: Name) => {
    const evidence = evidenceOf(domain, OURS);
    return {
      ...evidence,
      servers: evidence.servers.map((server) => ({ ...server, outcome: 'answer' as const, showsCut: true })),
    };
  };
  expect(await checker(held).run()).toMatchObject({ verdict: 'unknown' });
  await dueNow();
  const ourAddresses = async () => new Set(['198.51.100.1']);
  expect(await checker(held, { ourAddresses }).run()).toMatchObject({
    verdict: 'match',
    transition: { from: 'pending', to: 'active' },
  });
});

async function dueNow(): Promise<void> {
  await query`update domain_checks set next_at = now(), due_at = now() where domain_id = ${domainId}`;
}
