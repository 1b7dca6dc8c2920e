import { expect, it } from 'vitest';
import { BodyRoom } from '../../../src/api/body/body-room.ts';

const SIZE = { bytes: 100, bytesOfOne: 40 };

it('one account cannot take the room of the others', () => {
  const room = new BodyRoom(SIZE);
  const [first, second, other] = [room.reserve(1), room.reserve(1), room.reserve(2)];
  expect([first.grow(30), second.grow(20), second.grow(10)]).toEqual([true, false, true]);
  expect([other.grow(40), room.bytes]).toEqual([true, 80]);
});

it('all accounts together take no more than there is', () => {
  const room = new BodyRoom(SIZE);
  expect([1, 2, 3].map((account) => room.reserve(account).grow(40))).toEqual([true, true, false]);
});

it('what is released is free, once, and a released body grows no more', () => {
  const room = new BodyRoom(SIZE);
  const body = room.reserve(1);
  body.grow(40);
  body.release();
  body.release();
  expect([room.bytes, body.grow(1), room.reserve(1).grow(40)]).toEqual([0, false, true]);
});

it('an unread answer counts against the next bodies', () => {
  const room = new BodyRoom(SIZE);
  const body = room.reserve(1);
  body.hold(60);
  expect([room.bytes, room.reserve(1).grow(1), room.reserve(2).grow(40)]).toEqual([60, false, true]);
});
