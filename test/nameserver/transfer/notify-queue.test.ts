// The queue of one peer, with a simulated clock.

import { expect, test } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { NotifyQueue, type Unanswered } from '../../../src/nameserver/transfer/notify-queue.ts';
import { heapOctets } from '../../support/tests/heap-octets.ts';

interface Sent {
  readonly at: number;
  readonly apex: Name;
  readonly address: number;
}

/** Returns how long the peer takes to answer. Undefined if it ignores the message. */
type Peer = (message: Unanswered, at: number) => number | undefined;

const zone = (n: number | string) => parseName(`z${n}.example.`);
const ignores: Peer = () => undefined;
const answers: Peer = () => 5;

class Simulation {
  readonly queue: NotifyQueue;
  readonly sent: Sent[] = [];
  readonly givenUp: { at: number; apex: Name }[] = [];
  mostUnanswered = 0;
  peer: Peer;
  #now = 0;
  #timers = 0;
  #answers: { at: number; message: Unanswered }[] = [];
  #unanswered = new Set<Unanswered>();

  constructor(rate: number, peer: Peer) {
    this.queue = new NotifyQueue(rate);
    this.peer = peer;
  }

  /** Runs the queue until this time. Its timers are up to 2 ms late. */
  run(untilMs: number): this {
    for (;;) {
      this.#take();
      const answer = this.#answers[0];
      const next = Math.min(this.queue.nextAt() ?? Number.POSITIVE_INFINITY, answer?.at ?? Infinity);
      if (next > untilMs) break;
      this.#now = Math.max(this.#now, next + (next === answer?.at ? 0 : this.#timers++ % 3));
      for (; (this.#answers[0]?.at ?? Infinity) <= this.#now; this.#answers.shift()) {
        const { message } = this.#answers[0] as { message: Unanswered };
        this.#unanswered.delete(message);
        this.queue.answered(message, this.#now);
      }
    }
    this.#now = untilMs;
    return this;
  }

  add(...zones: Name[]): this {
    for (const apex of zones) this.queue.add(apex);
    return this;
  }

  #take(): void {
    for (let step = this.queue.take(this.#now); step; step = this.queue.take(this.#now)) {
      const { message, kind } = step;
      const { apex, address } = message;
      if (kind === 'given-up') {
        this.#unanswered.delete(message);
        this.givenUp.push({ at: this.#now, apex });
        continue;
      }
      this.sent.push({ at: this.#now, apex, address });
      this.#unanswered.add(message);
      this.mostUnanswered = Math.max(this.mostUnanswered, this.#unanswered.size);
      const delay = this.peer(message, this.#now);
      if (delay === undefined) continue;
      this.#answers.push({ at: this.#now + delay, message });
      this.#answers.sort((a, b) => a.at - b.at);
    }
  }
}

const many = (count: number) => Array.from({ length: count }, (_, n) => zone(n));
const seconds = (sent: readonly Sent[]) => sent.map(({ at }) => Math.round(at / 1000));
const between = (sent: readonly Sent[], from: number, to: number) =>
  sent.filter(({ at }) => at >= from && at < to).length;

test('sends a change immediately, and further changes of the zone together after one second', () => {
  const simulation = new Simulation(200, answers).add(zone(1)).run(10);
  for (let ms = 20; ms < 2500; ms += 10) simulation.add(zone(1)).run(ms);
  simulation.run(60_000);
  expect(simulation.sent[0]?.at).toBe(0);
  expect(seconds(simulation.sent)).toEqual([0, 1, 2, 3]);
  expect(simulation.queue.isIdle).toBe(true);
});

test.each([50, 1000])('sends %i messages per second', (rate) => {
  const simulation = new Simulation(rate, answers).add(...many(rate * 5)).run(60_000);
  const { sent, queue } = simulation;
  expect(sent.length).toBe(rate * 5);
  for (let at = 0; at < 4000; at += 1000) {
    const count = between(sent, at, at + 1000);
    expect(count).toBeGreaterThan(rate * 0.95);
    expect(count).toBeLessThan(rate * 1.05);
  }
  expect(queue.size).toBe(0);
});

test('has at most 500 messages unanswered', () => {
  const simulation = new Simulation(5000, () => 1900).add(...many(2000)).run(60_000);
  expect(simulation.mostUnanswered).toBe(500);
  expect(simulation.sent.length).toBe(2000);
});

test('sends an ignored message again after 2, 4, 8, 16 and 32 s, then gives the zone up', () => {
  const simulation = new Simulation(200, ignores).add(zone(1)).run(200_000);
  expect(seconds(simulation.sent)).toEqual([0, 2, 6, 14, 30, 62]);
  expect(simulation.givenUp.map(({ apex }) => apex)).toEqual([zone(1)]);
  expect(simulation.queue.size).toBe(0);
});

test('restarts the attempts if the zone changes', () => {
  const simulation = new Simulation(200, ignores).add(zone(1)).run(10_000).add(zone(1)).run(20_000);
  expect(seconds(simulation.sent)).toEqual([0, 2, 6, 10, 12, 16]);
});

test('sends one message per 30 s to a silent peer, and all others as soon as it answers', () => {
  const simulation = new Simulation(200, ignores).add(...many(2000)).run(330_000);
  const { sent } = simulation;
  const first = between(sent, 0, 5000);
  expect(first).toBeGreaterThan(300);
  expect(first).toBeLessThan(500);
  expect(simulation.queue.isSilent).toBe(true);
  expect(sent.length - first).toBe(10);
  expect(simulation.queue.size).toBe(2000);
  simulation.peer = answers;
  simulation.run(350_000);
  expect(simulation.queue.size).toBe(0);
  expect(new Set(sent.map(({ apex }) => apex)).size).toBe(2000);
});

test('does not count a peer as silent that has answered since', () => {
  const queue = new NotifyQueue(1000);
  for (const apex of many(31)) queue.add(apex);
  const lost = Array.from({ length: 30 }, (_, ms) => queue.take(ms));
  expect(lost.every((step) => step?.kind === 'send')).toBe(true);
  const last = queue.take(1000)?.message as Unanswered;
  queue.answered(last, 1005);
  queue.take(2100); // all others are ignored by now
  expect(queue.isSilent).toBe(false);
});

test('uses the next address after three ignored messages', () => {
  const simulation = new Simulation(200, ({ address }) => (address === 0 ? undefined : 5)).add(...many(1000));
  simulation.run(10_000);
  const { sent, queue } = simulation;
  expect(sent.filter(({ at }) => at > 2200).every(({ address }) => address === 1)).toBe(true);
  expect(queue.size).toBe(0);
  expect(queue.isIdle).toBe(false); // the address must not be forgotten
});

test('forgets a zone that is dropped, and does not wait for the next one', () => {
  const queue = new NotifyQueue(1);
  for (const apex of many(3)) queue.add(apex);
  for (let step = queue.take(0); step !== undefined; step = queue.take(0)) queue.drop(step.message, 0);
  expect(queue.isIdle).toBe(true);
});

test('two queues of 100,000 zones take less than 16 MiB', () => {
  const before = heapOctets();
  const queues = [new NotifyQueue(200), new NotifyQueue(200)];
  for (const apex of many(100_000)) for (const queue of queues) queue.add(apex);
  expect(heapOctets() - before).toBeLessThan(16 * 2 ** 20);
  expect(queues.map(({ size }) => size)).toEqual([100_000, 100_000]);
});
