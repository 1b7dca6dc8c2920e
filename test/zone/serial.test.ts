import { expect, it } from 'vitest';
import { isNewer, laterSerial, nextSerial, timedSerial } from '../../src/zone/serial.ts';

const TOP = 2 ** 32 - 1;
const NOW = new Date('2026-11-30T00:00:00Z');
const SECONDS = NOW.getTime() / 1000;

it.each([
  [1, 0, true],
  [0, 1, false],
  [7, 7, false],
  [1, TOP, true],
  [2 ** 31 - 1, 0, true],
  [2 ** 31, 0, false],
  [0, 2 ** 31, false],
])('isNewer(%i, %i) is %s', (serial, other, expected) => {
  expect(isNewer(serial, other)).toBe(expected);
});

it.each([
  [1, 2],
  [2 ** 31, 2 ** 31 + 1],
  [TOP - 1, TOP],
  [TOP, 1],
])('the serial after %i is %i', (serial, next) => {
  expect(nextSerial(serial)).toBe(next);
});

it.each([
  ['behind the time', 1, SECONDS],
  ['equal to the time', SECONDS, SECONDS + 1],
  ['ahead of the time', SECONDS + 5, SECONDS + 6],
  [
    'so far behind that the time is not newer',
    (SECONDS + 2 ** 31) % 2 ** 32,
    (SECONDS + 2 ** 31 + 1) % 2 ** 32,
  ],
  ['the highest', TOP, SECONDS],
])('the timed serial after one that is %s', (_, serial, next) => {
  expect(timedSerial(serial, NOW)).toBe(next);
  expect(isNewer(next, serial)).toBe(true);
});

it('a loaded serial is used only if it is newer than the served one', () => {
  expect([laterSerial(5, undefined), laterSerial(5, 4), laterSerial(4, 5), laterSerial(1, TOP)]).toEqual([
    5, 5, 6, 1,
  ]);
});
