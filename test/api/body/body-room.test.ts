import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { BodyRoom, BodySegments, BodyTurns } from '../../../src/api/body/body-room.ts';

const SIZE = { bytes: 100, bytesOfOne: 40 };

it('one account cannot use the room of others', () => {
  const room = new BodyRoom(SIZE);
  const [first, second, other] = [room.reserve(1), room.reserve(1), room.reserve(2)];
  expect([first.grow(30), second.grow(20), second.grow(10)]).toEqual([true, false, true]);
  expect([other.grow(40), room.bytes]).toEqual([true, 80]);
});

it('all accounts together cannot use more than the total room', () => {
  const room = new BodyRoom(SIZE);
  expect([1, 2, 3].map((account) => room.reserve(account).grow(40))).toEqual([true, true, false]);
});

it('released room is free again, once, and a released reservation cannot grow', () => {
  const room = new BodyRoom(SIZE);
  const body = room.reserve(1);
  body.grow(40);
  body.release();
  body.release();
  expect([room.bytes, body.grow(1), room.reserve(1).grow(40)]).toEqual([0, false, true]);
});

it('an unread response reduces the room for the next bodies', () => {
  const room = new BodyRoom(SIZE);
  const body = room.reserve(1);
  body.hold(60);
  expect([room.bytes, room.reserve(1).grow(1), room.reserve(2).grow(40)]).toEqual([60, false, true]);
});

it('a body of many small chunks needs few segments, and at most twice its size', () => {
  const segments = new BodySegments();
  for (let i = 0; i < 100_000; i++) segments.add(Uint8Array.of(i % 251));
  const list = segments.list();
  expect(segments.bytes).toBe(100_000);
  expect(list.length).toBeLessThan(10);
  expect(list.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)).toBeLessThanOrEqual(200_000);
  const whole = Buffer.concat(list);
  expect(whole.length).toBe(100_000);
  expect(whole.every((octet, i) => octet === i % 251)).toBe(true);
});

it('segments do not share buffers, so that each can be transferred to a thread', () => {
  const segments = new BodySegments();
  segments.add(Buffer.alloc(3_000_000, 1));
  const buffers = segments.list().map(({ buffer }) => buffer);
  expect(new Set(buffers).size).toBe(buffers.length);
});

const KIB = 1024;

let turns: BodyTurns;
beforeEach(() => {
  turns = new BodyTurns();
});

it('each round of the event loop scans a limited number of bytes, in the order of the pieces', async () => {
  const counted: number[] = [];
  for (let piece = 0; piece < 6; piece++) turns.wait(64 * KIB, () => counted.push(piece));
  const rounds: number[][] = [];
  while (counted.length < 6 || rounds.length === 0) {
    rounds.push([...counted]);
    await setImmediate();
  }
  expect(rounds).toEqual([[], [0, 1], [0, 1, 2, 3]]);
  expect(counted).toEqual([0, 1, 2, 3, 4, 5]);
});

it('a piece that is larger than a round is scanned alone', async () => {
  let counted = 0;
  turns.wait(1 << 20, () => counted++);
  turns.wait(1, () => counted++);
  await setImmediate();
  expect(counted).toBe(1);
  await setImmediate();
  expect(counted).toBe(2);
});

it('a round with room scans a piece immediately, but not before pieces that wait', async () => {
  expect([turns.mayTake(64 * KIB), turns.mayTake(64 * KIB), turns.mayTake(1)]).toEqual([true, true, false]);
  turns.wait(1, () => {});
  expect(turns.mayTake(1)).toBe(false);
  await setImmediate();
  await setImmediate();
  expect(turns.mayTake(1)).toBe(true);
});

it('one round scans hundreds of tiny pieces, but not thousands', () => {
  let taken = 0;
  while (turns.mayTake(1)) taken++;
  expect(taken).toBe(Math.ceil((128 * KIB) / 257));
});
