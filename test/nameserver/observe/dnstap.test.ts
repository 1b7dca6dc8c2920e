import { describe, expect, it } from 'vitest';
import { DnstapEncoder } from '../../../src/nameserver/observe/dnstap.ts';
import { type ReadSample, SAMPLE_OCTETS } from '../../../src/nameserver/observe/sample-record.ts';
import { decodeFields } from '../../support/answer/protobuf.ts';
import { sampleOf, V4, V6 } from '../../support/answer/samples.ts';

/** Returns the messages of the two frames of a sample. */
function framesOf(sample: ReadSample): Map<number, unknown>[] {
  const encoder = new DnstapEncoder('node-1', 'zonefleet 1.2.3');
  const bound = encoder.bound(SAMPLE_OCTETS + sample.query.length + sample.answer.length, 1);
  const out = new Uint8Array(bound);
  const end = encoder.write(sample, out, 0);
  const messages: Map<number, unknown>[] = [];
  for (let at = 0; at < end; ) {
    const length = Buffer.from(out).readUInt32BE(at);
    const frame = decodeFields(out.subarray(at + 4, at + 4 + length));
    expect(frame.get(1)).toEqual(Buffer.from('node-1'));
    expect(frame.get(2)).toEqual(Buffer.from('zonefleet 1.2.3'));
    expect(frame.get(15)).toBe(1);
    messages.push(decodeFields(frame.get(14) as Uint8Array));
    at += 4 + length;
  }
  return messages;
}

describe('a dnstap frame', () => {
  it('has the fields of the query, and those of the answer, with the numbers of dnstap.proto', () => {
    const sample = sampleOf({}, { local: Uint8Array.of(9, 198, 51, 100, 1), localAt: 1, localPort: 53 });
    const both: [number, unknown][] = [
      [2, 1],
      [3, 1],
      [4, Buffer.from(V4)],
      [5, Buffer.of(198, 51, 100, 1)],
      [6, 40_000],
      [7, 53],
      [8, 2_177_452_800],
      [9, 123_250_000],
      [11, Buffer.from('\x07example\x04test\0')],
    ];
    expect(framesOf(sample)).toEqual([
      new Map([[1, 1], ...both, [10, Buffer.from(sample.query)]]),
      new Map([[1, 2], ...both, [12, 2_177_452_800], [13, 123_500_000], [14, Buffer.from(sample.answer)]]),
    ]);
  });

  it.each([
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
  ] as const)('of transport %i has socket protocol %i', (transport, protocol) => {
    expect(framesOf(sampleOf({ transport }))[1]?.get(3)).toBe(protocol);
  });

  it('omits the zone and the own address if they are unknown, and takes an IPv6 address and large messages', () => {
    const large = Buffer.alloc(30_000, 7);
    const [query, answer] = framesOf(
      sampleOf({ address: V6, zoneLabels: undefined, query: large, answer: large }),
    );
    for (const fields of [query, answer]) {
      expect(fields?.get(2)).toBe(2);
      expect(fields?.get(4)).toEqual(Buffer.from(V6));
      expect([5, 7, 11].some((key) => fields?.has(key))).toBe(false);
    }
    expect(large.equals(query?.get(10) as Buffer)).toBe(true);
    expect(large.equals(answer?.get(14) as Buffer)).toBe(true);
  });
});
