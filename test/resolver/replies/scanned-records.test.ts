import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { ScannedRecords } from '../../../src/resolver/replies/scanned-records.ts';
import { name } from '../../support/world/zone-exchange.ts';

const A = (count: number, octets = 4) => Array.from({ length: count }, () => new Uint8Array(octets));

/** `www 2`: with how many records each name is there. */
function listed(records: ScannedRecords): string[] {
  const counts = new Map<string, number>();
  for (const each of records.list()) {
    const label = printName(each.name).replace('.shop.com.', '');
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].map(([label, count]) => `${label} ${count}`);
}

it('sets that are more than a scan keeps are left out whole', () => {
  const records = new ScannedRecords(name('shop.com'), { records: 5, octets: 100 });
  records.add(name('a.shop.com'), TYPE.A, 60, A(3));
  records.add(name('b.shop.com'), TYPE.A, 60, A(3));
  records.add(name('c.shop.com'), TYPE.A, 60, A(1, 89));
  records.add(name('d.shop.com'), TYPE.A, 60, A(2));
  expect(listed(records)).toEqual(['a 3', 'd 2']);
  expect([records.count, records.left]).toEqual([5, 4]);
});

it('what is taken away makes room', () => {
  const records = new ScannedRecords(name('shop.com'), { records: 4, octets: 16 });
  records.add(name('x.a.shop.com'), TYPE.A, 60, A(4));
  records.cutOff(name('a.shop.com'), [{ name: name('a.shop.com'), type: TYPE.NS, ttl: 60, rdata: A(1) }]);
  records.add(name('x.b.shop.com'), TYPE.A, 60, A(3));
  records.endBelow(name('b.shop.com'), { ttl: 60, rdata: A(1) as [Uint8Array] });
  records.add(name('c.shop.com'), TYPE.A, 60, A(2));
  expect(listed(records)).toEqual(['a 1', 'b 1', 'c 2']);
  expect(records.left).toBe(0);
});

it('without another word there are 10,000 of 4 MiB at most', () => {
  const many = new ScannedRecords(name('shop.com'));
  for (let i = 0; i < 50; i++) many.add(name(`h${i}.shop.com`), TYPE.A, 60, A(250));
  expect([many.count, many.left]).toEqual([10_000, 2500]);
  const large = new ScannedRecords(name('shop.com'));
  for (let i = 0; i < 5; i++) large.add(name(`h${i}.shop.com`), TYPE.TXT, 60, A(1, 1 << 20));
  expect([large.count, large.left]).toEqual([4, 1]);
});
