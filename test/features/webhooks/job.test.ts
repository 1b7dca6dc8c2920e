import { expect, it } from 'vitest';
import type { FamilyEvidence } from '../../../src/checks/aname/target-evidence.ts';
import { findReceiver } from '../../../src/features/webhooks/job.ts';

const found = (...addresses: string[]): FamilyEvidence => ({ kind: 'found', addresses, ttl: 60 });
const none: FamilyEvidence = { kind: 'none', ttl: 60 };

const ask = (v4: FamilyEvidence, v6: FamilyEvidence, host = 'hooks.test') =>
  findReceiver({
    observeAddresses: async (name) => ({ names: [name], v4, v6, queries: 1, startedAt: 0, finishedAt: 0 }),
  })(host, new AbortController().signal);

it('finds the addresses of both families, and none if there are too many', async () => {
  expect(await ask(found('192.0.2.1'), found('2001:db8::1'))).toEqual(['192.0.2.1', '2001:db8::1']);
  expect(await ask(none, { kind: 'failed', reason: 'lame', message: '' })).toEqual([]);
  expect(await ask(found(...Array(17).fill('192.0.2.1')), none)).toBeUndefined();
  expect(await ask(none, none, `${'x'.repeat(64)}.test`)).toBeUndefined();
});
