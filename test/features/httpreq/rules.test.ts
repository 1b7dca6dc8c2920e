import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { addRecord, readChallenge, removeRecord } from '../../../src/features/httpreq/rules.ts';
import { printDestination } from '../../../src/zone/records/destination.ts';
import { records } from '../../support/zone/customer-records.ts';

const NAME = '_acme-challenge.example.com.';

function read(body: object, keyNames: string[] | null = null): string {
  const found = readChallenge(body, keyNames);
  if (found.kind === 'problem') return `${found.field}: ${found.message}`;
  const { name, rdata } = found.challenge;
  return `${printName(name)} ${printDestination('TXT', rdata).destination}`;
}

it.each([
  // RFC 8555 §8.4; the value was computed with OpenSSL
  [
    { domain: '*.Example.com', token: 'x', keyAuth: 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA.key' },
    `${NAME} kKaw44bsF46B1clC34tLaEFx3skDaKfJTVoKCcPoax4`,
  ],
  [{ fqdn: '_ACME-challenge.example.COM', value: '"a"' }, `${NAME} "\\"a\\""`],
  [{ value: 'x' }, 'fqdn: is required'],
  [{ fqdn: NAME }, 'value: is required'],
  [{ keyAuth: 'x' }, 'domain: is required'],
  [{ domain: 'a..b', keyAuth: 'x' }, 'domain: a name must not be empty or have empty labels'],
  [{ fqdn: NAME, value: '' }, 'value: expected 1 to 255 printable ASCII characters'],
  [{ fqdn: NAME, value: 'x'.repeat(256) }, 'value: expected 1 to 255 printable ASCII characters'],
  [{ fqdn: 'www.example.com.', value: 'x' }, 'fqdn: expected a name that begins with _acme-challenge'],
  [
    { fqdn: '_acme-challenges.example.com.', value: 'x' },
    'fqdn: expected a name that begins with _acme-challenge',
  ],
])('readChallenge reads %j', (body, expected) => {
  expect(read(body)).toBe(expected);
});

it('readChallenge accepts another name only if the key is restricted to it', () => {
  const body = { fqdn: 'acme.example.com.', value: 'x' };
  expect(read(body, ['acme.example.com'])).toBe('acme.example.com. x');
  expect(read(body, ['other.example.com'])).toContain('fqdn: ');
});

it('addRecord adds a record unless it exists, and removeRecord removes only that record', () => {
  const found = readChallenge({ fqdn: NAME, value: 'one' }, null);
  if (found.kind === 'problem') throw new Error(found.message);
  const { challenge } = found;
  const others = records(['1: _acme-challenge 300 TXT two', '2: _acme-challenge 300 CAA 0 issue "one"']);
  const all = [...others, ...records(['3: _acme-challenge 300 TXT one'])];
  expect(addRecord([], challenge).creates).toMatchObject([{ type: 'TXT', ttl: 60 }]);
  expect(addRecord(others, challenge).creates).toEqual([{ ...challenge, type: 'TXT' }]);
  expect(addRecord(all, challenge).creates).toEqual([]);
  expect(removeRecord(all, challenge).deletes).toEqual([{ id: 3 }]);
  expect(removeRecord(others, challenge).deletes).toEqual([]);
});
