// Which set a signature belongs to: one of its owner with the type that it covers.

import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { attachSignatures } from '../../src/zone/attach-signatures.ts';
import { type CollectedRecords, collectRecords } from '../../src/zone/collect-records.ts';
import { ProblemList } from '../../src/zone/zone-problem.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');

/** The key tag tells the signatures of a test apart. */
function signature(owner: string, covers: string, tag: number, ttl = 60): string {
  return `${owner} ${ttl} RRSIG ${covers} 13 1 ${ttl} 20300101000000 20200101000000 ${tag} example. AAAA`;
}

function collect(...lines: readonly string[]): CollectedRecords {
  return collectRecords(APEX, recordsOf(lines.join('\n'), 'example.'), new ProblemList());
}

describe('signatures', () => {
  it('belong to the set of the type that they cover, and take its TTL (RFC 4034 §3)', () => {
    const collected = collect(
      signature('a', 'TXT', 1, 5),
      'a 60 A 192.0.2.1',
      'a 300 TXT x',
      signature('a', 'A', 2),
      signature('a', 'A', 3, 900),
    );
    expect(attachSignatures(collected)).toEqual({ count: 3, stray: [] });
    const sets = collected.nodes.get(parseName('a.example.'))?.sets;
    expect([...(sets?.keys() ?? [])]).toEqual([TYPE.A, TYPE.TXT]);
    expect(sets?.get(TYPE.A)).toMatchObject({ ttl: 60 });
    expect(sets?.get(TYPE.A)?.signatures).toHaveLength(2);
    expect(sets?.get(TYPE.TXT)).toMatchObject({ ttl: 300 });
    expect(sets?.get(TYPE.TXT)?.signatures).toHaveLength(1);
  });

  it('are held once each', () => {
    const collected = collect('a A 192.0.2.1', signature('a', 'A', 1), signature('a', 'A', 1));
    expect(attachSignatures(collected).count).toBe(1);
  });

  it('beside no set that they cover are stray and make no name', () => {
    const collected = collect(
      'a A 192.0.2.1',
      signature('a', 'MX', 1),
      signature('b.c', 'A', 2),
      signature('a', 'RRSIG', 3),
    );
    const { count, stray } = attachSignatures(collected);
    expect(count).toBe(0);
    expect(stray.map(({ owner, type }) => `${printName(owner)} ${type}`)).toEqual([
      'a.example. 46',
      'a.example. 46',
      'b.c.example. 46',
    ]);
    expect([...collected.nodes.keys()].map(printName)).toEqual(['a.example.']);
  });
});
