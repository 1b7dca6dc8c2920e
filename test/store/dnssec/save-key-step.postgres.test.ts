// Several workers take a key step once, and a restored database continues from its own state.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Machine } from '../../../src/checks/dnssec/machine.ts';
import { enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/dnssec-state.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { BY, published } from '../../support/database/domains.ts';
import { RolledDomain } from '../../support/database/rolled-domain.ts';

const HOUR_MS = 3_600_000;

let rolled: RolledDomain;
let databases: TestDatabase[];

beforeEach(async () => {
  rolled = await RolledDomain.create();
  databases = [];
});
afterEach(async () => {
  await rolled.drop();
  for (const database of databases) await database.drop();
});

const order = () => ({ ...BY, domainId: rolled.domainId });
const showAsked = async () => {
  const { asked } = await rolled.machine();
  rolled.shown = await Promise.all(asked.map((id) => rolled.dsOf(id)));
};

test('three concurrent workers take each step once, and late ones change nothing', async () => {
  const steps: string[] = [];
  let conflicts = 0;
  const passUntilStep = async (step: string) => {
    for (let rounds = 0; steps.at(-1) !== step; rounds++) {
      if (rounds === 60) throw new Error(`there is no ${step} after ${steps}`);
      const outcomes = await Promise.all([rolled.look(), rolled.look(), rolled.look()]);
      await rolled.nodesFollow();
      const begun = outcomes.flatMap((each) => (each.kind === 'saved' && each.step ? [each.step] : []));
      expect(begun.length).toBeLessThan(2);
      steps.push(...begun);
      conflicts += outcomes.filter(({ kind }) => kind === 'conflict').length;
      if (begun.length > 0) await rolled.expectWhole();
      else if (outcomes.some((each) => each.kind === 'saved' && each.waiting?.until !== undefined))
        rolled.ahead += 12 * HOUR_MS;
      else rolled.ahead += HOUR_MS;
    }
  };
  await enableDnssec(rolled.database.db, order());
  await passUntilStep('ask');
  await showAsked();
  await rolled.passTime(1);
  expect((await rollDnssec(rolled.database.db, { ...order(), compromised: false })).kind).toBe('updated');
  await passUntilStep('publish');
  await passUntilStep('ask');
  await showAsked();
  await passUntilStep('withdraw');
  expect(steps).toEqual(['sign', 'ask', 'publish', 'change_signatures', 'ask', 'withdraw']);
  expect(conflicts).toBeGreaterThan(0);
});

/** Returns the tags of the keys in the DNSKEY set, and of those that have signed the addresses. */
async function servedTags(): Promise<{ keys: number[]; signers: number[] }> {
  const { serving } = await rolled.machine();
  const keys = (await loadDnssec(rolled.database.db, rolled.domainId))?.keys ?? [];
  const lines = (await published(rolled.database.db)) ?? [];
  return {
    keys: keys.filter(({ id }) => serving.keys.includes(String(id))).map(({ tag }) => tag),
    signers: lines.filter((line) => / RRSIG A /.test(line)).map((line) => Number(line.split(' ')[9])),
  };
}

/** Advances by twelve hours until the machine meets the condition. */
async function passUntil(isSo: (machine: Machine) => boolean): Promise<void> {
  for (let looks = 0; !isSo(await rolled.machine()); looks++) {
    if (looks === 60) throw new Error('it never is so');
    rolled.ahead += 12 * HOUR_MS;
    await rolled.settle();
  }
}

test('after a restore that loses new signatures, the zone stays consistent, and its rollover continues after a wait', async () => {
  await enableDnssec(rolled.database.db, order());
  await passUntil(({ asked }) => asked.length > 0);
  await showAsked();
  await rolled.passTime(1);
  await rollDnssec(rolled.database.db, { ...order(), compromised: false });
  await rolled.settle();
  const { waiting, epoch, clock } = await rolled.machine();
  expect(waiting?.cause).toBe('caches');
  rolled.ahead += (waiting?.until as number) - clock - 2 * HOUR_MS;
  await rolled.settle();
  const backup = await rolled.backUp();
  const signedBefore = await servedTags();
  rolled.ahead += 3 * HOUR_MS;
  await rolled.settle();
  const inCaches = await servedTags();
  expect(inCaches.signers).not.toEqual(signedBefore.signers);

  databases.push(rolled.database);
  await rolled.restore(backup);
  expect(await servedTags()).toEqual(signedBefore);
  expect(signedBefore.keys).toEqual(expect.arrayContaining(inCaches.signers));
  await rolled.nodesFollow();
  const restored = await rolled.settle();
  expect([restored.step, restored.waiting?.cause]).toEqual([undefined, 'restore']);
  expect((await rolled.machine()).epoch).not.toBe(epoch);
  await rolled.passTime(1);
  expect(await servedTags()).toEqual(signedBefore);

  await passUntil(({ asked, wanted }) => asked.length === 1 && asked[0] === wanted?.sep);
  await showAsked();
  await passUntil(({ waiting: wait }) => wait === null);
  expect(await servedTags()).toEqual({ keys: inCaches.signers, signers: inCaches.signers });
});
