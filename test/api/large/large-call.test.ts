import { expect, it } from 'vitest';
import { packError, ThreadError } from '../../../src/api/large/large-call.ts';
import { DatabaseSilence } from '../../../src/store/postgres/bounded-client.ts';

/** The error as it arrives from the thread. */
const crossed = (error: unknown) => new ThreadError(structuredClone(packError(error)));

it('an outage in a thread is also an outage for the main thread, although its class is lost', () => {
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

it('a bug stays a bug and keeps its stack, whatever was thrown', () => {
  const bug = new TypeError('a bug');
  expect(crossed(bug)).toMatchObject({
    message: 'a bug',
    stack: bug.stack,
    outage: undefined,
    mayBeCommitted: false,
  });
  expect(crossed('thrown').message).toBe('thrown');
});
