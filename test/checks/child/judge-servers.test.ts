// The findings about single addresses, and about what they answer together.

import { describe, expect, it } from 'vitest';
import { judgeChild } from '../../../src/checks/child/judge-child.ts';
import { madeChild, madeProbe, NS1, soaReply } from '../../support/world/made-child.ts';

const NONE = new Set<typeof NS1>();
const codes = (evidence = madeChild(), options: Partial<Parameters<typeof judgeChild>[1]> = {}) =>
  judgeChild(evidence, { own: NONE, ...options }).map(({ code }) => code);
const withSerials = (...serials: number[]) =>
  madeChild({
    addresses: serials.map((serial, i) =>
      madeProbe(`5.${i}.0.1`, [NS1], { soa: soaReply(serial), tcp: soaReply(serial) }),
    ),
  });

describe('serials', () => {
  it('that are times may differ by an hour, which a zone transfer takes', () => {
    expect(codes(withSerials(1_700_000_000, 1_700_003_600))).toEqual([]);
    expect(codes(withSerials(1_700_000_000, 1_700_003_601))).toEqual(['SERIALS_DIFFER']);
  });

  it('of any other kind may not differ at all', () => {
    expect(codes(withSerials(2024010101, 2024010102))).toEqual(['SERIALS_DIFFER']);
    expect(codes(withSerials(1, 2))).toEqual(['SERIALS_DIFFER']);
    expect(codes(withSerials(1, 1))).toEqual([]);
  });
});

describe('an answer over TCP', () => {
  const over = (tcp: ReturnType<typeof soaReply>) =>
    codes(madeChild({ addresses: [madeProbe('5.3.0.1', [NS1], { soa: soaReply(10), tcp })] }));

  it('may have a newer serial, but not an older one, and the same data with the same serial', () => {
    expect(over(soaReply(11))).toEqual([]);
    expect(over(soaReply(9))).toEqual(['UDP_TCP_DIFFER']);
    expect(over(soaReply(10, { expire: 1_209_601 }))).toEqual(['UDP_TCP_DIFFER']);
    expect(over({ outcome: 'refused' })).toEqual(['UDP_TCP_DIFFER']);
    expect(over({ outcome: 'timeout' })).toEqual(['TCP_REFUSED']);
  });

  it('that was not asked for says nothing', () => {
    expect(over({ outcome: 'unasked' })).toEqual([]);
  });
});
