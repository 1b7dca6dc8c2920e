import { expect, test } from 'vitest';
import { type Release, TransferSlots } from '../../../src/nameserver/transfer/transfer-slots.ts';

const NEVER = new AbortController().signal;

/** Takes slots for peers, written as `account:peer`, or `peer` for the operator's. Returns those that started. */
async function started(slots: TransferSlots, takers: string): Promise<Map<string, Release>> {
  const released = new Map<string, Release>();
  for (const [i, text] of takers.split(' ').entries()) {
    const [id, account] = text.split(':').reverse();
    const taker = { id: Number(id), accountId: account === undefined ? undefined : Number(account) };
    void slots.take(taker, NEVER).then((release) => release && released.set(`${i} ${text}`, release));
  }
  await Promise.resolve();
  return released;
}

test.each([
  ['5 of one peer, whose others do not delay another peer', '1 1 1 1 1 1 2', 6],
  ['an eighth of all of one account, and half of all customers', '7:1 7:2 8:3 9:4 9:5 10:6 11:7', 4],
  ['all that customers leave to the peers of the operator', '7:1 8:2 9:3 10:4 11:5 1 1 1 1 1', 8],
])('8 transfers at once, but %s', async (_, takers, count) => {
  expect(await started(new TransferSlots(8, () => true), takers)).toHaveProperty('size', count);
});

test('a released slot goes to the first waiting transfer that may use it', async () => {
  const slots = new TransferSlots(2, () => true);
  const running = await started(slots, '1 1 2 3');
  expect([...running.keys()]).toEqual(['0 1', '1 1']);
  running.get('0 1')?.();
  running.get('0 1')?.();
  await Promise.resolve();
  expect([...running.keys()]).toEqual(['0 1', '1 1', '2 2']);
});

test('nothing starts without memory, or after the connection has ended', async () => {
  const ended = AbortSignal.abort();
  expect(
    await new TransferSlots(2, () => false).take({ id: 1, accountId: undefined }, ended),
  ).toBeUndefined();
});
