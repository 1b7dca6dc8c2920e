// Looks up the CAA records that apply, and their effect on an order, in a small internet.

import { expect, it } from 'vitest';
import { judgeCaa } from '../../../src/checks/caa/judge-caa.ts';
import { COM_A, COM_B, comInternet, testResolver } from '../../support/world/test-resolver.ts';
import { name, type ZoneExchange, zone } from '../../support/world/zone-exchange.ts';

const NS = '5.0.0.1';
const OTHER = '5.0.0.3';
const CA = 'ca.example.net';
const ISSUER = { identities: [CA], method: 'dns-01', accountUrl: 'https://ca.test/1' } as const;

/** example.com at one server, other.com at another. `com` has additional records of com. */
function world(text: string, { other = '', com = '' } = {}): ZoneExchange {
  const glue = `example NS ns1.example\nns1.example A ${NS}\nother NS ns.other\nns.other A ${OTHER}\n${com}`;
  return comInternet(glue)
    .serve(NS, zone('example.com.', `@ NS ns1\nns1 A ${NS}\n${text}`))
    .serve(OTHER, zone('other.com.', `@ NS ns\nns A ${OTHER}\n${other}`));
}

const observe = (exchange: ZoneExchange, host: string) =>
  testResolver(exchange).resolver.observeCaa(name(host));

/** Returns why no certificate is issued for the name. The lookup starts without its `*.`. */
async function refusal(exchange: ZoneExchange, host: string): Promise<string | undefined> {
  return judgeCaa(host, await observe(exchange, `${host.replace(/^\*\./, '')}.`), ISSUER);
}

it("a name's own records apply, with their flags, tags and values", async () => {
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

it('without its own, those of the closest ancestor apply, across zone cuts', async () => {
  const above = world('@ CAA 0 issue "else.test"\na.b A 192.0.2.1');
  expect(await observe(above, 'a.b.example.com.')).toMatchObject({ kind: 'found', at: 'example.com' });
  expect(await observe(above, 'absent.b.example.com.')).toMatchObject({ kind: 'found', at: 'example.com' });
  const top = world('a A 192.0.2.1', { com: '@ CAA 0 issue "else.test"' });
  expect(await observe(top, 'a.example.com.')).toMatchObject({ kind: 'found', at: 'com' });
});

it('without any records, each name up to the top-level domain is queried', async () => {
  const exchange = world('a A 192.0.2.1');
  expect(await observe(exchange, 'a.example.com.')).toEqual({ kind: 'none' });
  const asked = exchange.asked.filter((one) => one.endsWith(' CAA')).map((one) => one.split(' ')[1]);
  expect(new Set(asked)).toEqual(new Set(['a.example.com.', 'example.com.', 'com.']));
});

it('an alias is followed at each name, and the next ancestor is that of the alias, not of its target', async () => {
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

it('aliases in a circle are a failure', async () => {
  const circle = world('www CNAME to.other.com.', { other: 'to CNAME www.example.com.' });
  expect(await observe(circle, 'www.example.com.')).toMatchObject({ kind: 'failed' });
});

it('servers that do not answer are a failure, which forbids nothing: the authority does its own lookup', async () => {
  const silent = world('').behave(NS, () => 'silent');
  const found = await observe(silent, 'example.com.');
  expect(found.kind).toBe('failed');
  expect(judgeCaa('example.com', found, ISSUER)).toBeUndefined();
});

it('an aborted lookup rejects with the reason', async () => {
  const exchange = world('').behave(NS, () => 'hangs');
  const looking = testResolver(exchange).resolver.observeCaa(name('example.com.'), {
    signal: AbortSignal.timeout(20),
  });
  await expect(looking).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('issuewild applies only to wildcards', async () => {
  const exchange = world(`@ CAA 0 issue "${CA}"\n@ CAA 0 issuewild ";"`);
  expect(await refusal(exchange, 'example.com')).toBeUndefined();
  expect(await refusal(exchange, '*.example.com')).toMatch(/add CAA 0 issuewild "ca.example.net"/);
});

it('an unknown critical property forbids issuance, a known one does not, in any letter case', async () => {
  const unknown = world(`@ CAA 0 issue "${CA}"\n@ CAA 128 future "x"`);
  expect(await refusal(unknown, 'example.com')).toMatch(/critical property future/);
  expect(await refusal(world(`@ CAA 128 ISSUE "${CA}"`), 'example.com')).toBeUndefined();
});

it('the data of com is queried at one of its servers', async () => {
  const exchange = world('a A 192.0.2.1');
  await observe(exchange, 'example.com.');
  const asked = exchange.asked.filter((one) => one.endsWith(' com. CAA')).map((one) => one.split(' ')[0]);
  expect(asked).toHaveLength(1);
  expect([COM_A, COM_B]).toContain(asked[0]);
});
