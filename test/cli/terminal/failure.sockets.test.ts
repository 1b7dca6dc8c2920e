import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { explainFailure, Failure, isAboutTheRows } from '../../../src/cli/terminal/failure.ts';
import { SchemaError } from '../../../src/store/postgres/schema-version.ts';

const serverError = (code: string, message: string, more = {}) =>
  Object.assign(new Error(message), { code, severity: 'ERROR', ...more });

describe('failures in one line', () => {
  it('keep a failure unchanged, and name a refused connection, even if Node tried several addresses', async () => {
    const failure = new Failure('usage', 'no');
    expect(explainFailure(failure)).toBe(failure);
    const error = await new Promise<Error>((resolve) => connect(1, 'localhost').on('error', resolve));
    for (const shown of [error, new AggregateError([error])])
      expect(explainFailure(shown)).toMatchObject({
        code: 'database',
        message: expect.stringMatching(/ECONNREFUSED/),
      });
  });

  it('have the detail of a server error', () => {
    const error = serverError('23514', 'violates check', { detail: 'Failing row\ncontains x' });
    expect(explainFailure(error)).toMatchObject({
      code: 'database',
      message: 'Postgres: violates check (Failing row contains x)',
    });
  });

  it('explain a missing or old schema, and distinguish an unreachable queue from a bug', () => {
    expect(explainFailure(serverError('42P01', 'relation "zones" does not exist')).message).toMatch(
      /zonefleet migrate/,
    );
    expect(explainFailure(new SchemaError('too old: run `zonefleet migrate`')).code).toBe('database');
    const error = Object.assign(new Error('the queue cannot be reached: x\ny'), { name: 'QueueUnavailable' });
    expect(explainFailure(error)).toMatchObject({
      code: 'queue',
      message: 'the queue cannot be reached: x y',
    });
    expect(explainFailure(new TypeError('x is undefined'))).toMatchObject({
      code: 'internal',
      message: 'x is undefined',
    });
    expect(explainFailure('thrown text')).toMatchObject({ code: 'internal', message: 'thrown text' });
  });
});

it('distinguish data and constraint errors', () => {
  expect(isAboutTheRows(serverError('23514', ''))).toBe(true);
  expect(isAboutTheRows(serverError('22021', ''))).toBe(true);
  expect(isAboutTheRows(serverError('57P01', ''))).toBe(false);
  expect(isAboutTheRows(serverError('40P01', ''))).toBe(false);
  expect(isAboutTheRows(new Error('x'))).toBe(false);
});
