import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { glueSets } from '../../../src/resolver/replies/glue-sets.ts';
import { name } from '../../support/world/zone-exchange.ts';

const CUT = name('dev.shop.com');
const NS = [name('ns1.dev.shop.com'), name('ns2.dev.shop.com'), name('ns.host.net')];

function sets(glue: readonly (readonly [string, string])[]): string[] {
  const all = glue.map(([owner, address], ttl) => ({ name: name(owner), address, ttl: 60 + ttl }));
  return glueSets(CUT, NS, all).map(
    ({ name: owner, type, ttl, rdata }) => `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${rdata.length}`,
  );
}

it('addresses of nameservers inside the zone are sets, by type', () => {
  expect(
    sets([
      ['ns1.dev.shop.com', '5.6.7.1'],
      ['ns1.dev.shop.com', '2606::1'],
      ['ns1.dev.shop.com', '5.6.7.2'],
      ['ns.host.net', '5.6.7.3'],
      ['www.dev.shop.com', '5.6.7.4'],
    ]),
  ).toEqual(['ns1.dev.shop.com. 60 A 2', 'ns1.dev.shop.com. 61 AAAA 1']);
});

it('a set that is there to make work is none', () => {
  const many = Array.from(
    { length: 257 },
    (_, i) => ['ns1.dev.shop.com', `5.6.${i >> 8}.${i & 255}`] as const,
  );
  expect(sets(many.slice(1))).toEqual(['ns1.dev.shop.com. 60 A 256']);
  expect(sets(many)).toEqual([]);
});
