import { expect, it } from 'vitest';
import { packError, ThreadError } from '../../../src/api/large/large-call.ts';
import { DatabaseSilence } from '../../../src/store/postgres/bounded-client.ts';

/** As it comes out of the thread. */
const crossed = (error: unknown) => new ThreadError(structuredClone(packError(error)));

it('an outage that a thread met is one for the main thread too, though its class is lost on the way', () => {
  const errors = [
    new DatabaseSilence('Postgres was silent'),
    Object.assign(new Error('no room'), { code: '53100' }),
    new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })]),
  ];
  expect(errors.map((error) => crossed(error).outage)).toEqual(['silent', 'no_disk_space', 'unreachable']);
  expect(crossed(new DatabaseSilence('Postgres was silent'))).toMatchObject({
    name: 'DatabaseSilence',
    message: 'Postgres was silent',
  });
});

it('a bug stays a bug, with its stack, whatever was thrown', () => {
  const bug = new TypeError('a bug');
  expect(crossed(bug)).toMatchObject({
    message: 'a bug',
    stack: bug.stack,
    outage: undefined,
    mayBeCommitted: false,
  });
  expect(crossed('thrown').message).toBe('thrown');
});
