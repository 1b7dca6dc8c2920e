import { describe, expect, it } from 'vitest';
import { coversHash, coversName, type Nsec3, readNsec, readNsec3 } from '../../../src/dns/dnssec/denial.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { name } from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const HASH = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom';
const nsec = (owner: string, text: string) =>
  readNsec(name(owner), recordsOf(`@ NSEC ${text}`)[0]?.rdata as Uint8Array);
const nsec3 = (owner: string, text: string) =>
  readNsec3(name(owner), recordsOf(`@ NSEC3 ${text}`)[0]?.rdata as Uint8Array, name('test'));

describe('an NSEC record', () => {
  it('covers the names between its owner and the next, in canonical order', () => {
    const record = nsec('b.test', 'D.test. A');
    expect(
      ['a', 'b', 'a.b', 'c', 'd', 'e', 'z.c'].filter((at) => coversName(record, name(`${at}.test`))),
    ).toEqual(['a.b', 'c', 'z.c']);
    expect(record.types).toEqual(new Set([TYPE.A]));
  });

  it('that is the last covers all behind it', () => {
    const record = nsec('m.test', 'test. A');
    expect(['a', 'm', 'n'].filter((at) => coversName(record, name(`${at}.test`)))).toEqual(['n']);
  });

  it('that is the only one covers all but its owner', () => {
    const record = nsec('test', 'test. SOA');
    expect([name('test'), name('a.test')].filter((at) => coversName(record, at))).toEqual([name('a.test')]);
  });
});

describe('an NSEC3 record', () => {
  it('covers the hashes between its own and the next, across the end too', () => {
    const record = nsec3(`${HASH}.test`, `1 1 5 aabb ${HASH.replace('0', '4')} NS`) as Nsec3;
    expect(record).toMatchObject({ optOut: true, iterations: 5 });
    const at = (first: number) => Uint8Array.of(first, ...record.hash.subarray(1));
    const firsts = [0, 7, 0x25, 0x27, 0xff];
    expect(firsts.filter((first) => coversHash(record, at(first)))).toEqual([7, 0x25]);
    const last = { ...record, hash: record.next, next: record.hash };
    expect(firsts.filter((first) => coversHash(last, at(first)))).toEqual([0, 0x27, 0xff]);
  });

  it.each([
    ['another hash algorithm', `${HASH}.test`, `2 0 5 aabb ${HASH}`],
    ['unknown flags', `${HASH}.test`, `1 2 5 aabb ${HASH}`],
    ['an owner that is no hash', 'wxyz.test', `1 0 5 aabb ${HASH}`],
    ['an owner that is too short', 'aa.test', `1 0 5 aabb ${HASH}`],
    ['an owner below another name', `${HASH}.a.test`, `1 0 5 aabb ${HASH}`],
    ['a next hash that is too short', `${HASH}.test`, '1 0 5 aabb aaaaaaaa'],
  ])('with %s is ignored', (_, owner, text) => {
    expect(nsec3(owner, text)).toBeUndefined();
  });
});
