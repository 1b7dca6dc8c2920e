import { describe, expect, it } from 'vitest';
import { DatabaseSilence } from '../../../src/store/postgres/bounded-client.ts';
import { PoolFull } from '../../../src/store/postgres/growing-pool.ts';
import { OUTAGES, outageOf } from '../../../src/store/postgres/outage.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

describe('an error', () => {
  it.each([
    ['ECONNREFUSED', 'unreachable'],
    ['ENOENT', 'unreachable'],
    ['ECONNRESET', 'unreachable'],
    ['08006', 'unreachable'],
    ['25006', 'unreachable'], // the primary became a standby
    ['28P01', 'unreachable'], // when connecting: the password was changed
    ['3D000', 'unreachable'], // being restored
    ['57P01', 'unreachable'],
    ['57P02', 'unreachable'],
    ['57P03', 'unreachable'],
    ['57P04', 'unreachable'],
    ['25P03', 'silent'],
    ['25P04', 'silent'],
    ['57014', 'silent'], // statement_timeout
    ['40001', 'busy'],
    ['40P01', 'busy'],
    ['53300', 'busy'],
    ['53400', 'busy'],
    ['55P03', 'busy'],
    ['53100', 'no_disk_space'],
    ['53000', 'no_resources'],
    ['53200', 'no_resources'],
    ['58000', 'no_resources'],
    ['58030', 'no_resources'],
    ['58P01', 'no_resources'],
  ])('with code %s is an outage: %s', (code, kind) => {
    expect(outageOf(withCode(code))).toBe(kind);
  });

  it.each(
    '23505 42P01 42501 22P02 XX000 XX001 XX002 ERR_ASSERTION'.split(' '),
  )('with code %s is not an outage, because a retry does not help', (code) =>
    expect(outageOf(withCode(code))).toBeUndefined());

  it('of the driver is classified by its message, and one of several addresses only if all errors are outages', () => {
    expect(outageOf(new Error('Connection terminated unexpectedly'))).toBe('unreachable');
    expect(outageOf(new Error('Connection terminated due to connection timeout'))).toBe('silent');
    expect(outageOf(new Error('timeout exceeded when trying to connect'))).toBe('silent');
    expect(outageOf(new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')]))).toBe(
      'unreachable',
    );
    expect(outageOf(new AggregateError([withCode('ECONNREFUSED'), new Error('x')]))).toBeUndefined();
    expect(outageOf(new AggregateError([]))).toBeUndefined();
    expect(outageOf(withCode('ENOENT', { syscall: 'open' }))).toBeUndefined();
    expect(outageOf('ECONNREFUSED')).toBeUndefined();
  });

  it('of the fleet’s own pool is an outage', () => {
    expect(outageOf(new DatabaseSilence('late'))).toBe('silent');
    expect(outageOf(new PoolFull('full'))).toBe('busy');
  });
});

it('every kind has its own message and retry time', () => {
  const told = Object.values(OUTAGES);
  expect(new Set(told.map(({ words }) => words)).size).toBe(told.length);
  for (const { retrySeconds } of told) expect(retrySeconds).toBeGreaterThan(0);
});
