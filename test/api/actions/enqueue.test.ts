import { expect, test } from 'vitest';
import { jobRequestOf } from '../../../src/api/actions/enqueue.ts';

type Asked = Parameters<typeof jobRequestOf>[1];
const call = (idempotencyKey: string | undefined, domainId = 1, accountId = 7) =>
  ({ caller: { account: { id: accountId } }, domain: { id: domainId }, idempotencyKey }) as Asked;

test('derives the same request id for a repeated Idempotency-Key, and different ones for anything else', () => {
  const first = jobRequestOf('ns-check', call('once'));
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(jobRequestOf('ns-check', call('once'))).toBe(first);
  const others = [
    jobRequestOf('verify', call('once')),
    jobRequestOf('ns-check', call('twice')),
    jobRequestOf('ns-check', call('once', 2)),
    jobRequestOf('ns-check', call('once', 1, 8)),
    jobRequestOf('ns-check', call(undefined)),
    jobRequestOf('ns-check', call(undefined)),
  ];
  expect(new Set([first, ...others]).size).toBe(7);
});
