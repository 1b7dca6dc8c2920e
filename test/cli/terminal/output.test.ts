import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { Listing, Output } from '../../../src/cli/terminal/output.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';

const ITEM = { json: { a: 1 }, lines: ['one'] };
const REFUSED = { json: { b: 2 }, problems: ['x: bad', 'y: bad'] };

it('a list is lines for people: results on stdout, problems on stderr', async () => {
  const captured = captureOutput(false);
  const listing = new Listing(captured.output, 'items');
  await listing.add(ITEM);
  await listing.add(REFUSED);
  await listing.end({ count: 2 }, 'items 2');
  expect(captured.out).toBe('one\nitems 2\n');
  expect(captured.err).toBe('x: bad\ny: bad\n');
});

it.each([
  [[], { items: [], count: 2 }],
  [[ITEM], { items: [{ a: 1 }], count: 2 }],
  [[ITEM, REFUSED], { items: [{ a: 1 }, { b: 2 }], count: 2 }],
])('a list of %j is one JSON document', async (items, document) => {
  const captured = captureOutput(true);
  const listing = new Listing(captured.output, 'items');
  for (const item of items) await listing.add(item);
  await listing.end({ count: 2 }, 'unseen');
  expect(JSON.parse(captured.out)).toEqual(document);
  expect(captured.err).toBe('');
});

it('a reader that hangs up closes the output, and writing on is harmless', async () => {
  const out = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
  const output = new Output(false, out, new PassThrough());
  await output.print('lost');
  await output.print('lost');
  expect(output.closed).toBe(true);
});

it('writing waits for a slow reader', async () => {
  let release: (() => void) | undefined;
  const out = new Writable({
    write: (_chunk, _encoding, done) => {
      release = done;
    },
  });
  const output = new Output(false, out, new PassThrough());
  let written = false;
  const writing = output.print('line').then(() => {
    written = true;
  });
  await new Promise(setImmediate);
  expect(written).toBe(false);
  release?.();
  await writing;
  expect(written).toBe(true);
});
