import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { makeEdit, Refused, readChanges, readNames } from '../../../src/features/external-dns/rules.ts';
import { Changes } from '../../../src/features/external-dns/schema.ts';
import { DEFAULT_SETTINGS } from '../../../src/zone/records/customer-record.ts';
import type { ApiType } from '../../../src/zone/records/customer-types.ts';
import { parseDestination, printDestination } from '../../../src/zone/records/destination.ts';
import { printOriginalName } from '../../../src/zone/records/record-name.ts';

const APEX = parseName('shop.example.');

function held(line: string) {
  const [owner = '', type, ...words] = line.split(' ');
  const parsed = parseDestination(type as ApiType, words.join(' '), undefined, APEX);
  if (parsed.kind !== 'rdata') throw new Error(line);
  const times = { createdAt: '', updatedAt: '' };
  const name = parseName(owner);
  return { ...DEFAULT_SETTINGS, ...times, id: 1, name, type: type as ApiType, ttl: 300, rdata: parsed.rdata };
}

/** Prints the resulting sets: `NAME TTL TYPE CONTENT+…`, with `!` if they become proxied. */
function planned(body: object, current: readonly string[] = []): string[] | string {
  const named = readNames(Changes.parse(body));
  const sets = named instanceof Refused ? named : readChanges(named, APEX);
  if (sets instanceof Refused) return sets.sentence;
  return makeEdit(sets, current.map(held)).replaces.map(({ name, type, ttl = '-', records }) => {
    const contents = records.map(
      ({ rdata, proxied }) => `${printDestination(type, rdata).destination}${proxied ? '!' : ''}`,
    );
    return `${printOriginalName(name)} ${ttl} ${type} ${contents.join('+')}`;
  });
}

const set = (recordType: string, targets: string[], more = {}) => [
  { dnsName: 'a.shop.example', recordType, targets, ...more },
];
const proxied = { providerSpecific: [{ name: 'webhook/zonefleet-proxied', value: 'true' }] };
const A = (...addresses: number[]) =>
  set(
    'A',
    addresses.map((last) => `192.0.2.${last}`),
  );
const HELD = ['a.shop.example. A 192.0.2.1', 'a.shop.example. A 192.0.2.2', 'a.shop.example. TXT other'];

it.each([
  ['creates a set', { create: A(1) }, [], 'a.shop.example. - A 192.0.2.1'],
  ['adds to a set', { create: A(3) }, HELD, 'a.shop.example. - A 192.0.2.3+192.0.2.1+192.0.2.2'],
  ['removes only given targets', { delete: A(1, 9) }, HELD, 'a.shop.example. - A 192.0.2.2'],
  ['deletes a set', { Delete: A(1, 2), Create: null }, HELD, 'a.shop.example. - A '],
  [
    'keeps a target that it removes and adds',
    { updateOld: A(1), updateNew: A(1) },
    HELD,
    'a.shop.example. - A 192.0.2.1+192.0.2.2',
  ],
  ['replaces all targets', { UpdateOld: A(1, 2), UpdateNew: A(4) }, HELD, 'a.shop.example. - A 192.0.2.4'],
  ['moves TTLs into range', { create: set('TXT', ['x'], { recordTTL: 1 }) }, [], 'a.shop.example. 60 TXT x'],
  ['ignores a TTL of 0', { create: set('TXT', ['x'], { recordTTL: 0 }) }, [], 'a.shop.example. - TXT x'],
  [
    'proxies the whole set',
    { create: set('A', ['192.0.2.1'], proxied) },
    HELD,
    'a.shop.example. - A 192.0.2.1!+192.0.2.2!',
  ],
  ['does not proxy TXT', { create: set('TXT', ['"x"'], proxied) }, [], 'a.shop.example. - TXT x'],
])('a change %s', (_, body, current, expected) => {
  expect(planned(body, current)).toEqual([expected]);
});

it('changes of one set are merged, and sets keep their order', () => {
  const body = {
    create: [...set('AAAA', ['2001:db8::1']), ...A(5)],
    delete: [...A(1), ...set('TXT', ['other'])],
  };
  expect(planned(body, HELD)).toEqual([
    'a.shop.example. - A 192.0.2.5+192.0.2.2',
    'a.shop.example. - TXT ',
    'a.shop.example. - AAAA 2001:db8::1',
  ]);
});

it.each([
  [{ create: set('MX', ['mail.example']) }, /expected a priority and a host$/],
  [{ create: set('CNAME', ['@']) }, /"@" is not a host$/],
  [{ create: set('CNAME', ['lb']) }, /has no dot/],
])('%j is refused', (body, sentence) => {
  expect(planned(body)).toMatch(sentence);
});
