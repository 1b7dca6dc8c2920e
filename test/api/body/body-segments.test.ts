import { expect, it } from 'vitest';
import { BodySegments } from '../../../src/api/body/body-segments.ts';

it('a body of many small chunks takes few segments, and no more than twice its octets', () => {
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

it('no segment shares its buffer, so that each can be handed to a thread', () => {
  const segments = new BodySegments();
  segments.add(Buffer.alloc(3_000_000, 1));
  const buffers = segments.list().map(({ buffer }) => buffer);
  expect(new Set(buffers).size).toBe(buffers.length);
});
