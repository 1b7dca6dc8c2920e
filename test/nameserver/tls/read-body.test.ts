import { PassThrough } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readBody } from '../../../src/nameserver/tls/read-body.ts';

async function read(parts: Uint8Array[]): Promise<{ results: unknown[]; held: number; steps: number }> {
  const from = new PassThrough();
  const results: unknown[] = [];
  let held = 0;
  let steps = 0;
  readBody(from, {
    hold(bytes) {
      held += bytes;
      steps++;
    },
    done: (body) => results.push(typeof body === 'number' ? body : Buffer.from(body).toString('latin1')),
  });
  for (const part of parts) from.write(part);
  from.end();
  while (!from.readableEnded) await nextRound();
  return { results, held, steps };
}

it('a body is joined from its parts', async () => {
  expect(await read([Buffer.from('ab'), Buffer.from('c')])).toMatchObject({ results: ['abc'] });
  expect(await read([])).toMatchObject({ results: [''], held: 0 });
});

it('a body has at most 65,535 octets, and a longer one is reported once', async () => {
  const whole = await read([Buffer.alloc(65_534), Buffer.alloc(1)]);
  expect(whole).toMatchObject({ results: ['\0'.repeat(65_535)], held: 65_535 });
  expect(await read([Buffer.alloc(65_535), Buffer.alloc(1), Buffer.alloc(1)])).toMatchObject({
    results: [413],
  });
});

it('a body that arrives in single octets is rarely copied', async () => {
  const { results, steps } = await read(Array.from({ length: 3000 }, () => Buffer.alloc(1)));
  expect([results, steps]).toEqual([['\0'.repeat(3000)], 4]); // 512, 1024, 2048, 4096
});
