import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { badRequest, Problem } from '../../../src/api/answers/problem.ts';
import { type BodyBounds, THREAD_BODY_BYTES } from '../../../src/api/body/body-bounds.ts';
import { BodyRoom, BodySegments } from '../../../src/api/body/body-room.ts';
import { type Arriving, receiveBody } from '../../../src/api/body/receive-body.ts';

const BOUNDS: BodyBounds = { bytes: 1_000_000, values: 1000, items: undefined, byPlan: false };
const PIECE = 1000;

/** A body of this many pieces. `read` is the number of pieces that were requested before the result. */
async function receive(pieces: number, text: string, more: Partial<Arriving> = {}, roomBytes = 500_000) {
  let read = 0;
  async function* bytes() {
    for (; read < pieces; read++) {
      yield Buffer.from(text.repeat(PIECE / text.length));
      await setImmediate();
    }
  }
  const room = new BodyRoom({ bytes: roomBytes, bytesOfOne: roomBytes });
  const payload = Readable.from(bytes(), { objectMode: true, highWaterMark: 1 });
  const received = await receiveBody({
    payload,
    contentLength: undefined,
    bounds: BOUNDS,
    type: 'json',
    room: room.reserve(1),
    ...more,
  });
  return { received, read, room, payload };
}

it('a body with too many values is refused where it exceeds the limit, and the rest is discarded', async () => {
  const { received, read, payload } = await receive(100_000, '1,');
  expect(received).toMatchObject({ status: 400, error: 'the body has more than 1000 values' });
  expect(read).toBeLessThan(10);
  expect(payload.isPaused()).toBe(false);
  payload.destroy();
});

it('a body that is too long is refused by its header before a byte is read, or at the first byte beyond the limit', async () => {
  const announced = await receive(5000, 'x', { contentLength: '1000001', type: 'text' });
  expect([announced.received, announced.read]).toEqual([badRequest('the body is too large'), 0]);
  const { received, read, payload } = await receive(5000, 'x', { type: 'text' }, 2_000_000);
  payload.destroy();
  expect(received).toMatchObject({ error: 'the body is too large' });
  expect(read).toBeLessThan(1010);
});

it('a body that exceeds the plan is refused with plan_limit and the allowed bytes', async () => {
  const bounds = { ...BOUNDS, byPlan: true };
  const { received } = await receive(1, 'x', { contentLength: '1000001', bounds });
  expect(received).toMatchObject({ status: 403, code: 'plan_limit', members: { limit: 1_000_000 } });
});

it('a large body uses room as it arrives, and is a 503 if there is no room', async () => {
  const whole = await receive(200, 'x', { type: 'text' });
  expect(whole.received).toBeInstanceOf(BodySegments);
  expect(whole.room.bytes).toBe(200_000);
  const { received } = await receive(900, 'x', { type: 'text' });
  expect(received).toMatchObject({ status: 503, headers: { 'Retry-After': '5' } });
  const small = await receive(Math.floor(THREAD_BODY_BYTES / PIECE), 'x', { type: 'text' });
  expect(small.room.bytes).toBe(0);
});

it('a body of another type is refused at its first byte, and accepted if it is empty', async () => {
  const type = badRequest('the body must be JSON');
  expect((await receive(1, 'x', { type })).received).toBe(type);
  expect((await receive(0, 'x', { type })).received).not.toBeInstanceOf(Problem);
});

it('a connection that breaks within the body rejects', async () => {
  const payload = new Readable({ read() {} });
  const receiving = receiveBody({
    payload,
    contentLength: '10',
    bounds: BOUNDS,
    type: 'json',
    room: new BodyRoom({ bytes: 1, bytesOfOne: 1 }).reserve(1),
  });
  payload.push('{');
  payload.destroy();
  await expect(receiving).rejects.toThrow('within the body');
});

it('a request is read completely, even if it ends while its last piece waits', async () => {
  const bytes = Buffer.from(JSON.stringify('x'.repeat(1_000_000)));
  let received: BodySegments | Problem | undefined;
  const server = createServer(async (request, response) => {
    const contentLength = request.headers['content-length'];
    const room = new BodyRoom({ bytes: 1e7, bytesOfOne: 1e7 }).reserve(1);
    const bounds = { ...BOUNDS, bytes: 1e7 };
    received = await receiveBody({ payload: request, contentLength, bounds, type: 'json', room });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}`, { method: 'PUT', body: bytes });
  // toEqual takes seconds for a megabyte
  expect(Buffer.concat((received as BodySegments).list()).equals(bytes)).toBe(true);
  server.close();
});
