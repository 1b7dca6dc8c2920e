import { expect, test } from 'vitest';
import {
  holdsExpiry,
  type RefreshFinding,
  refreshInMs,
  retryInMs,
  TransferTurns,
  timersOf,
  transferLimits,
  transferMs,
  worstOf,
} from '../../../src/features/secondaries/rules.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const soaOf = (timers: string) => recordsOf(`z. 60 SOA ns. h. 7 ${timers} 60`)[0]!.rdata;
const secondsOf = (timers: string) => Object.values(timersOf(soaOf(timers))).map((ms) => ms / 1000);

test('the timers of an SOA are bounded', () => {
  expect(secondsOf('7200 600 1209600')).toEqual([7200, 600, 1209600]);
  expect(secondsOf('0 0 0')).toEqual([30, 10, HOUR]);
  expect(secondsOf('4294967295 4294967295 4294967295')).toEqual([DAY, DAY, 28 * DAY]);
});

test('a refresh is at most a tenth of REFRESH early', () => {
  const timers = timersOf(soaOf('1000 600 1209600'));
  expect([0, 0.5, 1].map((random) => refreshInMs(timers, random))).toEqual([1_000_000, 950_000, 900_000]);
});

// RETRY and EXPIRE in seconds; the finding; the delays in seconds after 1, 2, 3, 6 and 20 failures.
test.each(
  rowsOf(`
RETRY | 600 1209600 | PRIMARY_SILENT | 600 600 600 600 600
at first seldom, then each minute | 10 1209600 | PRIMARY_REFUSED | 10 20 40 60 60
at most an hour after costly failures | 60 1209600 | TRANSFER_INVALID | 60 60 60 320 3600
at least twenty times before the zone expires | 60 7200 | TRANSFER_TOO_LARGE | 60 60 60 320 360`),
)('a failed refresh is repeated: %s', (_, timers = '', finding, delays = '') => {
  const of = timersOf(soaOf(`3600 ${timers}`));
  const found = [1, 2, 3, 6, 20].map((failures) => retryInMs(of, failures, finding as RefreshFinding) / 1000);
  expect(found.join(' ')).toBe(delays);
});

test('the breaker holds the expiry of more than 20 zones that are more than a tenth of all', () => {
  const held = (expiring: number, copies: number) => holdsExpiry({ copies, expiring });
  expect([held(20, 20), held(21, 21), held(21, 209), held(21, 210), held(100, 10_000)]).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('the reported failure is that of the primary that came furthest', () => {
  const failure = (code: RefreshFinding, message = '') => ({ code, message });
  expect(worstOf([])).toBeUndefined();
  expect(worstOf([failure('PRIMARY_SILENT'), failure('PRIMARY_REFUSED')])?.code).toBe('PRIMARY_REFUSED');
  const [first, second] = [failure('TRANSFER_INVALID', 'a'), failure('TRANSFER_INVALID', 'b')];
  expect(worstOf([failure('PRIMARY_TSIG'), first, second])).toBe(first);
});

test('a transfer is first limited by the present size of the zone, and then by the maximum', () => {
  const MIB = 2 ** 20;
  expect(transferLimits({ records: 100_000, maxRecords: 1_000_000 })).toEqual([
    { records: 200_000, octets: 51_200_000 },
    { records: 1_000_000, octets: 256_000_000 },
  ]);
  expect(transferLimits({ records: undefined, maxRecords: 20_000 })).toMatchObject([{ records: 16_000 }, {}]);
  expect(transferLimits({ records: 3, maxRecords: 2000 })).toMatchObject([
    { records: 1000 },
    { records: 2000 },
  ]);
  expect(transferLimits({ records: 501, maxRecords: 1000 })).toEqual([{ records: 1000, octets: 4 * MIB }]);
  expect([4 * MIB, 256_000_000].map((octets) => transferMs({ octets }))).toEqual([128_000, 7_813_000]);
});

test('transfers take turns: as many as fit into memory, in their order, also after a failure', async () => {
  const turns = new TransferTurns({ octets: 100 });
  const events: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const take = (name: string, octets: number) => {
    const work = () =>
      new Promise<void>((resolve, reject) => {
        events.push(name);
        ends.set(name, (error) => (error ? reject(error) : resolve()));
      });
    void turns.take({ octets }, work).catch(() => {});
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  take('a', 60);
  take('b', 40);
  take('huge', 1000);
  take('c', 1);
  await settle();
  expect(events).toEqual(['a', 'b']);
  ends.get('a')?.(new Error('failed'));
  await settle();
  expect(events).toEqual(['a', 'b']);
  ends.get('b')?.();
  await settle();
  expect(events).toEqual(['a', 'b', 'huge']);
  ends.get('huge')?.();
  await settle();
  expect(events).toEqual(['a', 'b', 'huge', 'c']);
});
