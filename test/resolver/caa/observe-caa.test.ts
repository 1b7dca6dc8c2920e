// The look-up of the CAA records that count, and what it means for an order, against a small internet.

import { expect, it } from 'vitest';
import { judgeCaa } from '../../../src/checks/caa/judge-caa.ts';
import { COM_A, COM_B, comInternet, testResolver } from '../../support/world/test-resolver.ts';
import { name, type ZoneExchange, zone } from '../../support/world/zone-exchange.ts';

const NS = '5.0.0.1';
const OTHER = '5.0.0.3';
const CA = 'ca.example.net';
const ISSUER = { identities: [CA], method: 'dns-01', accountUrl: 'https://ca.test/1' } as const;

/** example.com at one server, other.com at another; `com` is what stands in com besides. */
function world(text: string, { other = '', com = '' } = {}): ZoneExchange {
  const glue = `example NS ns1.example\nns1.example A ${NS}\nother NS ns.other\nns.other A ${OTHER}\n${com}`;
  return comInternet(glue)
    .serve(NS, zone('example.com.', `@ NS ns1\nns1 A ${NS}\n${text}`))
    .serve(OTHER, zone('other.com.', `@ NS ns\nns A ${OTHER}\n${other}`));
}

const observe = (exchange: ZoneExchange, host: string) =>
  testResolver(exchange).resolver.observeCaa(name(host));

/** Why no certificate is issued for the name; the look-up begins without its `*.`. */
async function refusal(exchange: ZoneExchange, host: string): Promise<string | undefined> {
  return judgeCaa(host, await observe(exchange, `${host.replace(/^\*\./, '')}.`), ISSUER);
}

it('a name’s own records count, with their flags, tags and values', async () => {
  const text = `shop CAA 0 issue "${CA}; validationmethods=dns-01"\nshop CAA 128 iodef "mailto:a@b.test"\n@ CAA 0 issue ";"`;
  const found = await observe(world(text), 'shop.example.com.');
  expect(found).toEqual({
    kind: 'found',
    at: 'shop.example.com',
    records: expect.arrayContaining([
      { flags: 0, tag: 'issue', value: `${CA}; validationmethods=dns-01` },
      { flags: 128, tag: 'iodef', value: 'mailto:a@b.test' },
    ]),
  });
});

it('without any of its own, those of the nearest name above it count, over cuts of zones', async () => {
  const above = world('@ CAA 0 issue "else.test"\na.b A 192.0.2.1');
  expect(await observe(above, 'a.b.example.com.')).toMatchObject({ kind: 'found', at: 'example.com' });
  expect(await observe(above, 'absent.b.example.com.')).toMatchObject({ kind: 'found', at: 'example.com' });
  const top = world('a A 192.0.2.1', { com: '@ CAA 0 issue "else.test"' });
  expect(await observe(top, 'a.example.com.')).toMatchObject({ kind: 'found', at: 'com' });
});

it('none anywhere is none, and each name up to the top-level domain is asked', async () => {
  const exchange = world('a A 192.0.2.1');
  expect(await observe(exchange, 'a.example.com.')).toEqual({ kind: 'none' });
  const asked = exchange.asked.filter((one) => one.endsWith(' CAA')).map((one) => one.split(' ')[1]);
  expect(new Set(asked)).toEqual(new Set(['a.example.com.', 'example.com.', 'com.']));
});

it('an alias is followed at each name, and the climb goes on from the alias, not from its target', async () => {
  const led = world('www CNAME to.other.com.', { other: 'to CAA 0 issue "else.test"' });
  expect(await observe(led, 'www.example.com.')).toMatchObject({
    kind: 'found',
    records: [{ value: 'else.test' }],
  });
  const bare = world('www CNAME to.other.com.\n@ CAA 0 issue "own.test"', {
    other: 'to A 192.0.2.1\n@ CAA 0 issue "else.test"',
  });
  expect(await observe(bare, 'www.example.com.')).toMatchObject({ records: [{ value: 'own.test' }] });
});

it('aliases in a circle end, as a failure', async () => {
  const circle = world('www CNAME to.other.com.', { other: 'to CNAME www.example.com.' });
  expect(await observe(circle, 'www.example.com.')).toMatchObject({ kind: 'failed' });
});

it('servers that do not answer are a failure, which forbids nothing: the authority looks for itself', async () => {
  const silent = world('').behave(NS, () => 'silent');
  const found = await observe(silent, 'example.com.');
  expect(found.kind).toBe('failed');
  expect(judgeCaa('example.com', found, ISSUER)).toBeUndefined();
});

it('an aborted look-up rejects with the reason', async () => {
  const exchange = world('').behave(NS, () => 'hangs');
  const looking = testResolver(exchange).resolver.observeCaa(name('example.com.'), {
    signal: AbortSignal.timeout(20),
  });
  await expect(looking).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('issuewild decides for a wildcard alone', async () => {
  const exchange = world(`@ CAA 0 issue "${CA}"\n@ CAA 0 issuewild ";"`);
  expect(await refusal(exchange, 'example.com')).toBeUndefined();
  expect(await refusal(exchange, '*.example.com')).toMatch(/add CAA 0 issuewild "ca.example.net"/);
});

it('a critical property that nobody knows forbids, in any case of its letters a known one does not', async () => {
  const unknown = world(`@ CAA 0 issue "${CA}"\n@ CAA 128 future "x"`);
  expect(await refusal(unknown, 'example.com')).toMatch(/critical property future/);
  expect(await refusal(world(`@ CAA 128 ISSUE "${CA}"`), 'example.com')).toBeUndefined();
});

it('what the servers of com say is asked of one of them', async () => {
  const exchange = world('a A 192.0.2.1');
  await observe(exchange, 'example.com.');
  const asked = exchange.asked.filter((one) => one.endsWith(' com. CAA')).map((one) => one.split(' ')[0]);
  expect(asked).toHaveLength(1);
  expect([COM_A, COM_B]).toContain(asked[0]);
});
