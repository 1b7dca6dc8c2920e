import { expect, it } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import {
  itemsOf,
  planHost,
  printAddresses,
  readAddresses,
  readHost,
} from '../../../src/features/dyndns/rules.ts';
import { records } from '../../support/zone/customer-records.ts';

const HOST = parseName('home.example.com.');
const FAULT = 'expected one IPv4 or IPv6 address, or one of each';

function read(list: string | undefined, client = '192.0.2.9') {
  const found = readAddresses(list === undefined ? undefined : itemsOf(list), client);
  return 'problem' in found ? found.problem : printAddresses(found.addresses);
}

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:DB8:0::1', '2001:db8::1'],
  [' 192.0.2.1,2001:db8::1', '192.0.2.1,2001:db8::1'],
  ['192.0.2.1,', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  [undefined, '192.0.2.9'],
  ['', FAULT],
  [',', FAULT],
  ...[
    '0.0.0.0',
    '127.0.0.1',
    '169.254.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'ff02::1',
  ].map((address): [string, string] => [address, `${address} is not an address of a host`]),
  ['2001:db8::1,::FFFF:127.0.0.1', '127.0.0.1 is not an address of a host'],
  ['192.0.2.1,192.0.2.2', FAULT],
  ['192.0.2.1,2001:db8::1,2001:db8::2', FAULT],
  ['192.0.2.1,nonsense', FAULT],
  ['home.example.com', FAULT],
])('readAddresses reads "%s" as %s', (list, expected) => expect(read(list)).toBe(expected));

it.each([
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::1', '::1'],
])('readAddresses reads the address of the client %s as %s without a list', (client, expected) => {
  expect(read(undefined, client)).toBe(expected);
});

it('readHost accepts only names with at least two labels', () => {
  const names = ['Home.Example.com.', 'bücher.example', 'home', 'a..b', '.', 'a b.example', '*.example.com'];
  expect(names.map((text) => readHost(text)).map((name) => name && printName(name))).toEqual([
    'home.example.com.',
    'xn--bcher-kva.example.',
    undefined,
    undefined,
    undefined,
    undefined,
    '*.example.com.',
  ]);
});

const V4 = '1: home 300 A 192.0.2.1 ; proxied';
const V6 = '2: home 300 AAAA 2001:db8::1';
const SECOND = '3: home 300 A 192.0.2.3';

it.each<[string, string[], boolean, string, object]>([
  ['192.0.2.1', [V4, V6], false, 'good 192.0.2.1', {}],
  ['192.0.2.2', [V4, V6], false, 'good 192.0.2.2', { updates: [1] }],
  ['2001:db8::2,192.0.2.1', [V4, V6], false, 'good 2001:db8::2,192.0.2.1', { updates: [2] }],
  ['192.0.2.2,2001:db8::2', [V4], false, 'good 192.0.2.2', { updates: [1] }],
  ['192.0.2.2,2001:db8::2', [V4], true, 'good 192.0.2.2,2001:db8::2', { updates: [1], creates: ['AAAA'] }],
  ['192.0.2.2', [], true, 'good 192.0.2.2', { creates: ['A'] }],
  ['192.0.2.2', [V6], false, 'nohost ', {}],
  ['192.0.2.2', [V4, SECOND], true, 'numhost ', {}],
  ['2001:db8::2', [V4, SECOND, V6], false, 'good 2001:db8::2', { updates: [2] }],
])('planHost gives %s to a host with %j (may create: %s): %s', (list, held, mayCreate, line, edit) => {
  const found = readAddresses(itemsOf(list), '');
  if ('problem' in found) throw new Error(found.problem);
  const planned = planHost(records(held), HOST, { ...found, mayCreate });
  const { updates, creates, ...rest } = planned.edit;
  expect(`${planned.code} ${printAddresses(planned.addresses)}`).toBe(line);
  expect({ updates: updates.map(({ id }) => id), creates: creates.map(({ type }) => type) }).toEqual({
    updates: [],
    creates: [],
    ...edit,
  });
  expect(rest).toEqual({ replaces: [], deletes: [] });
  // An update keeps other settings of a record, and a new set gets a short TTL.
  for (const { set } of updates) expect(Object.keys(set)).toEqual(['rdata']);
  for (const { ttl } of creates) expect(ttl).toBe(60);
});
