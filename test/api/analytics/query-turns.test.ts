import { describe, expect, it } from 'vitest';
import { QueryTurns, TooManyQueries } from '../../../src/api/analytics/query-turns.ts';

const LIMITS = { running: 4, ofAccount: 2, ofDomain: 3, waiting: 3 };
const NEVER = new AbortController().signal;
const ended = (work: Promise<unknown>) =>
  Promise.race([work.then(() => true), new Promise((resolve) => setImmediate(() => resolve(false)))]);

describe('query slots', () => {
  it('limit the running queries of an account, while those of others run', async () => {
    const turns = new QueryTurns(LIMITS);
    const take = (accountId: number, domainId = accountId) => turns.take({ accountId, domainId }, NEVER);
    const first = await take(1);
    await take(1);
    const third = take(1);
    expect([await ended(third), turns.running, turns.waiting]).toEqual([false, 2, 1]);
    await take(2);
    expect(turns.running).toBe(3);
    first();
    await third;
    expect([turns.running, turns.waiting]).toEqual([3, 0]);
  });

  it('limit the running queries of a domain for all accounts, and in total', async () => {
    const turns = new QueryTurns(LIMITS);
    const take = (accountId: number, domainId: number) => turns.take({ accountId, domainId }, NEVER);
    const places = [await take(1, 9), await take(2, 9), await take(3, 9)];
    const ofDomain = take(4, 9);
    expect(await ended(ofDomain)).toBe(false);
    await take(5, 5);
    const ofAll = take(6, 6);
    expect([await ended(ofAll), turns.running]).toEqual([false, 4]);
    for (const giveBack of places) giveBack();
    await Promise.all([ofDomain, ofAll]);
    expect(turns.running).toBe(3);
  });

  it('go to the account with the fewest running queries, then to the one that waits the longest', async () => {
    const turns = new QueryTurns({ ...LIMITS, running: 2 });
    const order: string[] = [];
    const take = (name: string, accountId: number) =>
      turns.take({ accountId, domainId: accountId }, NEVER).then((giveBack) => {
        order.push(name);
        return giveBack;
      });
    const [busy] = [await take('busy', 1), await take('busy', 1)];
    const waiting = [take('busy again', 1), take('first', 2), take('second', 3)];
    busy?.();
    (await waiting[1])?.();
    (await waiting[2])?.();
    await waiting[0];
    expect(order).toEqual(['busy', 'busy', 'first', 'second', 'busy again']);
  });

  it('alternate between accounts if a domain has one slot, no matter how many queries of one account wait', async () => {
    const turns = new QueryTurns({ ...LIMITS, ofDomain: 1 });
    const order: string[] = [];
    const take = async (name: string, accountId: number) => {
      const giveBack = await turns.take({ accountId, domainId: 9 }, NEVER);
      order.push(name);
      setImmediate(giveBack);
    };
    await Promise.all([
      ...[1, 2, 3].map((n) => take(`viewer ${n}`, 1)),
      ...[1, 2].map((n) => take(`owner ${n}`, 2)),
      take('admin', 3),
    ]);
    expect(order).toEqual(['viewer 1', 'owner 1', 'admin', 'viewer 2', 'owner 2', 'viewer 3']);
  });

  it('are refused to an account with too many waiting queries, but not to others', async () => {
    const turns = new QueryTurns(LIMITS);
    const take = (accountId: number) => turns.take({ accountId, domainId: accountId }, NEVER);
    for (let i = 0; i < LIMITS.ofAccount; i++) await take(1);
    for (let i = 0; i < LIMITS.waiting; i++) void take(1);
    await expect(take(1)).rejects.toThrow(TooManyQueries);
    await take(2);
  });

  it('forget a waiter that leaves, and are released once', async () => {
    const turns = new QueryTurns({ ...LIMITS, running: 1 });
    const asker = { accountId: 1, domainId: 1 };
    const giveBack = await turns.take(asker, NEVER);
    const leaving = new AbortController();
    const left = turns.take(asker, leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(turns.take(asker, leaving.signal)).rejects.toThrow('gone');
    giveBack();
    giveBack();
    expect([turns.running, turns.waiting]).toEqual([0, 0]);
    (await turns.take(asker, NEVER))();
    expect(turns.running).toBe(0);
  });
});
