import { describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { denialTypes, depthOf, isSigned } from '../../../src/zone/signing/signed-types.ts';
import { MARK_TYPE } from '../../../src/zone/zone.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';
import { name } from '../../support/world/zone-exchange.ts';

const { A, NS, SOA, TXT, DS, RRSIG, NSEC, NSEC3, NSEC3PARAM, DNSKEY, CAA } = TYPE;

describe('a name', () => {
  it('is inside, at a cut or below one, whatever stands at the cut’s depth', () => {
    const cuts = new Set([name('cut.test'), name('b.a.test')]);
    const depth = (at: string) => depthOf(name(at), name('test'), (each) => cuts.has(each));
    expect(['test', 'a.test', 'cut.test', 'x.cut.test', 'c.b.a.test', 'b.a.test'].map(depth)).toEqual(
      wordsOf(`
      inside inside cut below below cut`),
    );
    expect(depthOf(name('test'), name('test'), () => true)).toBe('inside'); // NS of the apex are the zone's
  });
});

describe('a set', () => {
  it('is signed where it is authoritative: at a cut DS and NSEC alone, below none (RFC 4035 §2.2–2.4)', () => {
    const types = [A, NS, TXT, DS, NSEC];
    const signed = (depth: 'inside' | 'cut' | 'below') => types.filter((type) => isSigned(type, depth));
    expect(signed('inside')).toEqual(types);
    expect(signed('cut')).toEqual([DS, NSEC]);
    expect(signed('below')).toEqual([]);
  });

  it('of signatures or a mark has no signature', () => {
    expect([RRSIG, MARK_TYPE].filter((type) => isSigned(type, 'inside'))).toEqual([]);
  });
});

describe('NSEC', () => {
  it('shows all types of a name, RRSIG and itself, in rising order', () => {
    expect(denialTypes([CAA, A], 'inside', 'nsec')).toEqual([A, RRSIG, NSEC, CAA]);
    expect(denialTypes([SOA, NS, DNSKEY, NSEC], 'inside', 'nsec')).toEqual([NS, SOA, RRSIG, NSEC, DNSKEY]);
  });

  it('shows at a cut NS, DS, RRSIG and itself alone (RFC 4034 §4.1.2)', () => {
    expect(denialTypes([NS, A, TXT], 'cut', 'nsec')).toEqual([NS, RRSIG, NSEC]);
    expect(denialTypes([DS, NS], 'cut', 'nsec')).toEqual([NS, DS, RRSIG, NSEC]);
  });

  it('shows of a marked name that it is there, and no type', () => {
    expect(denialTypes([MARK_TYPE], 'inside', 'nsec')).toEqual([RRSIG, NSEC]);
  });
});

describe('NSEC3', () => {
  it('shows RRSIG where something is signed (RFC 5155 §7.1)', () => {
    expect(denialTypes([SOA, NS, NSEC3PARAM], 'inside', 'nsec3')).toEqual([NS, SOA, RRSIG, NSEC3PARAM]);
    expect(denialTypes([NS, DS], 'cut', 'nsec3')).toEqual([NS, DS, RRSIG]);
    expect(denialTypes([NS, A], 'cut', 'nsec3')).toEqual([NS]);
  });

  it('shows nothing of an empty non-terminal and of a marked name, and no denial of either kind', () => {
    expect(denialTypes([], 'inside', 'nsec3')).toEqual([]);
    expect(denialTypes([MARK_TYPE], 'inside', 'nsec3')).toEqual([]);
    expect(denialTypes([A, NSEC, NSEC3], 'inside', 'nsec3')).toEqual([A, RRSIG]);
  });
});
