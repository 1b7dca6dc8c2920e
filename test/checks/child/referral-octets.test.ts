// The size of a referral, compared with what our own encoder makes of it.

import { expect, test } from 'vitest';
import { inDomainGlue, leastGlue, referralOctets } from '../../../src/checks/child/referral-octets.ts';
import { encodeName, parseName, prependLabel } from '../../../src/dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../../src/dns/record/ip-address.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { reply } from '../../support/world/zone-exchange.ts';

const domain = parseName('example.com.');
const glue = [
  { name: parseName('ns1.example.com.'), address: '192.0.2.1' },
  { name: parseName('ns1.example.com.'), address: '2001:db8::1' },
  { name: parseName('ns.other.net.'), address: '192.0.2.2' },
];

/** The longest name below the domain. */
function longest() {
  let name = domain;
  for (let label = 63; label > 0; ) {
    const longer = prependLabel('x'.repeat(label), name);
    if (longer === undefined) label--;
    else name = longer;
  }
  return name;
}

test('it is that of the message, with names compressed', () => {
  const ns = ['ns1.example.com.', 'ns2.example.com.', 'ns.other.net.', 'b.ns.other.net.'].map((text) =>
    parseName(text),
  );
  const message = reply({
    questions: [{ name: longest(), type: 2, class: 1 }],
    authorities: ns.map((name) => ({ owner: domain, type: 2, class: 1, ttl: 1, rdata: encodeName(name) })),
    additionals: glue.map(({ name, address }) => {
      const isIpv6 = address.includes(':');
      const rdata = isIpv6 ? parseIpv6(address) : parseIpv4(address);
      return { owner: name, type: isIpv6 ? 28 : 1, class: 1, ttl: 1, rdata };
    }),
    edns: { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] },
  });
  expect(referralOctets({ domain, ns, glue }, true)).toBe(encodeMessage(message).length);
});

test('the least glue is one address of each family; the glue that is needed is that of servers inside the domain', () => {
  expect(leastGlue(glue).map(({ address }) => address)).toEqual(['192.0.2.1', '2001:db8::1']);
  expect(leastGlue([])).toEqual([]);
  expect(inDomainGlue({ domain, ns: [], glue }).map(({ address }) => address)).toEqual([
    '192.0.2.1',
    '2001:db8::1',
  ]);
});
