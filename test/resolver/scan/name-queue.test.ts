import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { type Lane, NameQueue } from '../../../src/resolver/scan/name-queue.ts';
import { name } from '../../support/world/zone-exchange.ts';

function fill(queue: NameQueue, lane: Lane, count: number): void {
  for (let i = 0; i < count; i++) queue.add(lane, name(`${lane}-${i}.shop.com`), false);
}

it('gives each name once, those that records speak of first', () => {
  const queue = new NameQueue();
  queue.add('derived', name('a.shop.com'), false);
  queue.add('learned', name('b.shop.com'), true);
  queue.add('learned', name('a.shop.com'), true);
  expect([queue.next(), queue.next(), queue.next()].map((each) => each && printName(each.name))).toEqual([
    'b.shop.com.',
    'a.shop.com.',
    undefined,
  ]);
});

it('takes as many as a scan can ask for, and leaves room for what records speak of', () => {
  const queue = new NameQueue();
  fill(queue, 'derived', 6000);
  expect(queue.isOverfull).toBe(false);
  fill(queue, 'derived', 9000);
  expect([queue.size, queue.isOverfull]).toEqual([6000, true]);
  fill(queue, 'learned', 9000);
  expect(queue.size).toBe(8000);
});
