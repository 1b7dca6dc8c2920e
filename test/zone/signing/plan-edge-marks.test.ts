import { describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { EdgeSets } from '../../../src/zone/edge-sets.ts';
import { markOfSignature, planEdgeMarks, setsToSign } from '../../../src/zone/signing/plan-edge-marks.ts';
import { signSet } from '../../../src/zone/signing/sign-set.ts';
import type { SigningKey } from '../../../src/zone/signing/signing-key.ts';
import { groupRecords } from '../../../src/zone/signing/standing.ts';
import { edgeMarkOf, type ZoneRecord } from '../../../src/zone/zone.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const ZONE = parseName('example.');
const WWW = parseName('www.example.');
const KEY = makeKey(13) as unknown as SigningKey;
const OTHER = makeKey(13) as unknown as SigningKey;
const TIMES = { inception: 100, expiration: 1_000 };
const A = recordsOf('www 60 A 198.51.100.1', 'example.');
const sets = (...v4: string[][]): EdgeSets => ({
  version: 1,
  countries: {},
  regions: [{ region: 'eu', v4, v6: [['2001:db8::1']] }],
});
const EU = sets(['192.0.2.1'], ['192.0.2.2']);

function plan(records: readonly ZoneRecord[], { of = EU, keys = [KEY], before = 500 } = {}) {
  return planEdgeMarks(groupRecords(WWW, records), setsToSign(of), keys, before);
}

function signed(planned: ReturnType<typeof plan>): ZoneRecord[] {
  const fresh = planned.toSign.map((one) => markOfSignature(one, signSet(one, { zone: ZONE, times: TIMES })));
  return [...planned.kept, ...fresh];
}

describe('signatures over sets of regions', () => {
  const first = plan([...A, edgeMarkOf(WWW)]);
  test('are made over the newest set of each type that the name has', () => {
    expect(first.toSign.map(({ set }) => [set.type, set.ttl, set.rdata.map((one) => one.join('.'))])).toEqual(
      [[TYPE.A, 60, ['192.0.2.1']]],
    );
    expect(first.isSame).toBe(false);
  });
  test('are kept while they hold', () => {
    const again = plan([...A, ...signed(first)]);
    expect(again).toMatchObject({ isSame: true, toSign: [], expiresAt: 1_000 });
  });
  test('are made anew before they end', () => {
    expect(plan([...A, ...signed(first)], { before: 1_001 }).toSign).toHaveLength(1);
  });
  test('are made anew over another TTL', () => {
    const slower = recordsOf('www 90 A 198.51.100.1', 'example.');
    expect(plan([...slower, ...signed(first)]).toSign).toHaveLength(1);
  });
  test('are made by every key that signs', () => {
    expect(plan([...A, ...signed(first)], { keys: [KEY, OTHER] }).toSign.map(({ key }) => key)).toEqual([
      OTHER,
    ]);
  });
  test('go when nothing publishes their set any more', () => {
    const marks = signed(first);
    const next = plan([...A, ...marks], { of: sets(['192.0.2.9'], ['192.0.2.1']) });
    expect(next.kept).toEqual([edgeMarkOf(WWW)]);
    expect(next.toSign).toHaveLength(1);
  });
  test('are no matter of a name without a mark', () => {
    expect(plan(A)).toMatchObject({ isSame: true, toSign: [] });
  });
});

test('regions that publish the same need one signature', () => {
  const { regions } = EU;
  const two = { ...EU, regions: [...regions, ...regions.map((one) => ({ ...one, region: 'us' }))] };
  expect(setsToSign(two)).toHaveLength(2);
});
