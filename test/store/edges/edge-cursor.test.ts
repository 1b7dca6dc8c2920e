import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEdgeCursor, type EdgeCursor, encodeEdgeCursor } from '../../../src/store/edges/edge-cursor.ts';

const xid = fc.bigInt(3n, 2n ** 62n);
const name = fc.stringMatching(/^[a-z0-9-]{1,20}(\.[a-z]{1,10}){0,3}\.$/);
const cursors: fc.Arbitrary<EdgeCursor> = fc.record({
  region: fc.stringMatching(/^[a-z0-9-]{1,32}$/),
  place: fc
    .record({
      epoch: fc.stringMatching(/^[0-9a-f]{32}$/),
      from: xid,
      distances: fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 20 }),
      newest: fc.option(fc.record({ name, version: fc.nat(), xid }), { nil: undefined }),
    })
    .map(({ distances, ...place }) => ({
      ...place,
      inFlight: distances.map(BigInt).flatMap((far) => (far < place.from ? [place.from - far] : [])),
    })),
  after: fc.option(fc.oneof(fc.constant(''), name), { nil: undefined }),
});

describe('an edge’s cursor', () => {
  it('is decoded as it was encoded, and fits into a header', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        const text = encodeEdgeCursor(cursor);
        expect(text).toMatch(/^[A-Za-z0-9_-]{1,4000}$/);
        expect(decodeEdgeCursor(text)).toEqual(cursor);
      }),
    );
  });

  it('names an earlier position if too many transactions are in flight, or one is too old', () => {
    const inFlight = Array.from({ length: 3000 }, (_, i) => BigInt(10_000 + i));
    const place = { epoch: 'e', from: 20_000n, inFlight, newest: undefined };
    const read = decodeEdgeCursor(encodeEdgeCursor({ region: 'eu', place, after: undefined }));
    expect(read?.place).toEqual({ ...place, from: 10_000n, inFlight: [] });
    const from = 10n ** 12n;
    const far = Array.from({ length: 1000 }, (_, i) => 1_000_000n + BigInt(i) * 7_777_777n);
    const early = { epoch: 'e'.repeat(32), from, inFlight: far, newest: undefined };
    const text = encodeEdgeCursor({ region: 'eu', place: early, after: undefined });
    expect(decodeEdgeCursor(text)?.place).toEqual({ ...early, from: 1_000_000n, inFlight: [] });
  });

  it('is undefined if the fleet did not issue it', () => {
    const wrong = [
      [2, 'eu', 'e', '9', [], null, null],
      [1, 'eu', 'e', '9', [10], null, null],
      [1, 'eu', 'e', '-9', [], null, null],
      [1, 'eu', 'e', '99999999999999999999', [], null, null],
      [1, 'eu', 'e', '9', [0], null, null],
      [1, 'eu', 'e', '9', [], ['x', 1.5, '3'], null],
      [1, 'eu', 'e', '9', [], null, 'a\u0000'],
      [1, 'eu', 'e', '9', [], null],
      {},
      null,
    ];
    for (const parts of wrong)
      expect(decodeEdgeCursor(Buffer.from(JSON.stringify(parts)).toString('base64url'))).toBeUndefined();
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(decodeEdgeCursor(text)).toBeUndefined();
      }),
    );
  });
});
