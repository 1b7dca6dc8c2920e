// Replays the requests in the source code of tools that read a zone and write the difference from their files. A second run
// must find no difference.

import { describe, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
const S = '/api/v1/servers/localhost';

interface Content {
  readonly content: string;
}
interface Comment {
  readonly content: string;
  readonly modified_at?: number;
}
interface RrSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly records: readonly Content[];
  readonly comments: readonly Comment[];
}
type Wanted = readonly (readonly [label: string, type: string, ttl: number, ...contents: string[]])[];

let writes = 0;
/** Sends a request. Throws if it fails, except with 404. */
async function send(method: string, path: string, body?: unknown) {
  const answer = await api.ask(method, `${S}${path}`, {
    as: null,
    headers: { 'x-api-key': api.keys.owner, accept: 'application/json' },
    ...(body !== undefined && { body }),
  });
  if (answer.status >= 400 && answer.status !== 404) throw new Error(`${method} ${path}: ${answer.text}`);
  if (method !== 'GET' && answer.status !== 404) writes++;
  return answer;
}

const fullName = (label: string, zone: string) => (label === '@' ? zone : `${label}.${zone}`);
const sorted = (values: readonly string[]) => [...values].sort();
const keyOf = ({ name, type }: { readonly name: string; readonly type: string }) => `${name} ${type}`;

/** Returns the wanted sets that are absent or differ, regardless of the order of contents, and the sets that are not wanted. */
function differences(zone: string, wanted: Wanted, present: readonly RrSet[]) {
  const held = new Map(present.map((set) => [keyOf(set), set]));
  const changed = wanted
    .map(([label, type, ttl, ...contents]) => ({ name: fullName(label, zone), type, ttl, contents }))
    .filter((set) => {
      const found = held.get(keyOf(set));
      held.delete(keyOf(set));
      const contents = found && sorted(found.records.map(({ content }) => content));
      return found?.ttl !== set.ttl || JSON.stringify(contents) !== JSON.stringify(sorted(set.contents));
    });
  return { changed, unwanted: [...held.values()].filter(({ type }) => type !== 'SOA') };
}

const NS = ['@', 'NS', 86_400, 'ns1.example.net.', 'ns2.example.net.'] as const;
const RECORDS: Wanted = [
  ['@', 'A', 300, '192.0.2.1', '192.0.2.2'],
  ['@', 'MX', 3600, '10 mail.other.example.', '20 mail2.other.example.'],
  ['@', 'CAA', 3600, '0 issue "ca.example"'],
  ['@', 'TXT', 300, '"v=spf1 -all"', '"a; b" "é"'],
  ['www', 'CNAME', 300, 'web.other.example.'],
  ['apex', 'ALIAS', 300, 'web.other.example.'],
  ['_sip._tcp', 'SRV', 300, '1 2 5060 sip.other.example.'],
  ['*', 'AAAA', 300, '2001:db8::1'],
  ['ssh', 'SSHFP', 300, '4 2 8cb0fc6c527506a053f4f14c8464bebbd6dede2738d11468dd953d7d6a3021f1'],
  ['sub', 'NS', 300, 'ns.other.example.'],
  ['ptr', 'NAPTR', 300, '10 20 "u" "sip+E2U" "!^.*$!sip:x@y.example!" .'],
  ['loc', 'LOC', 300, '51 30 12.748 N 0 7 39.611 W 0.00m 1.00m 10000.00m 10.00m'],
];

async function setsOf(zone: string): Promise<readonly RrSet[] | undefined> {
  const { status, body } = await send('GET', `/zones/${zone}`);
  return status === 404 ? undefined : body.rrsets;
}

/** octodns-powerdns sends one PATCH with deletions first. It creates an absent zone with all records. */
async function octodns(zone: string, wanted: Wanted): Promise<void> {
  const { body: server } = await send('GET', '');
  expect(
    server.version
      .split('.')
      .slice(0, 3)
      .map((part: string) => Number(part.split('-')[0])),
  ).toEqual([4, 9, 12]);
  const { changed, unwanted } = differences(zone, wanted, (await setsOf(zone)) ?? []);
  const mods = [
    ...unwanted.map(({ name, type, ttl, records }) => ({ name, type, ttl, records, changetype: 'DELETE' })),
    ...changed.map(({ contents, ...set }) => ({
      ...{ ...set, changetype: 'REPLACE' },
      records: contents.map((content) => ({ content, disabled: false })),
    })),
  ];
  if (mods.length === 0) return;
  if ((await send('PATCH', `/zones/${zone}`, { rrsets: mods })).status !== 404) return;
  const common = { kind: 'Master', masters: [], nameservers: [], soa_edit_api: 'DEFAULT', serial: 0 };
  await send('POST', '/zones', { name: zone, ...common, rrsets: mods });
}

/** dnscontrol creates an absent zone, and then sends a PATCH for each set, deletions first. */
async function dnscontrol(zone: string, wanted: Wanted): Promise<void> {
  if ((await setsOf(zone)) === undefined) {
    const nameservers = ['ns1.example.net.', 'ns2.example.net.'];
    await send('POST', '/zones', { name: zone, type: 'Zone', kind: '', dnssec: false, nameservers });
  }
  const { changed, unwanted } = differences(zone, wanted, (await setsOf(zone)) ?? []);
  for (const { name, type } of unwanted)
    await send('PATCH', `/zones/${zone}`, { rrsets: [{ name, type, changetype: 'DELETE' }] });
  for (const { contents, ...set } of changed) {
    const records = contents.map((content) => ({ content, disabled: false, 'set-ptr': false }));
    await send('PATCH', `/zones/${zone}`, {
      rrsets: [{ ...set, records, changetype: 'REPLACE', comments: null }],
    });
  }
  expect((await send('GET', `/zones/${zone}/cryptokeys`)).body).toEqual([]);
}

/** The Terraform provider pan-net/powerdns has a resource for the zone, and one for each set. */
async function terraform(zone: string, wanted: Wanted): Promise<void> {
  await send('GET', '');
  const nameservers = ['ns1.example.net.', 'ns2.example.net.'];
  if ((await send('GET', `/zones/${zone}`)).status === 404)
    await send('POST', '/zones', {
      name: zone,
      kind: 'Native',
      account: 'admin',
      nameservers,
      soa_edit_api: '',
    });
  const { body } = await send('GET', `/zones/${zone}`);
  expect(body).toMatchObject({ name: zone, kind: 'Native', account: 'admin', soa_edit_api: '' });
  const own = body.rrsets.find((set: RrSet) => set.type === 'NS' && set.name === zone);
  expect(sorted(own.records.map(({ content }: Content) => content))).toEqual(nameservers);
  const { changed, unwanted } = differences(zone, [NS, ...wanted], body.rrsets);
  for (const { name, type } of unwanted)
    await send('PATCH', `/zones/${zone}`, { rrsets: [{ name, type, changetype: 'DELETE', ttl: 0 }] });
  for (const { contents, ...set } of changed) {
    const records = contents.map((content) => ({ ...set, content, disabled: false, 'set-ptr': false }));
    await send('PATCH', `/zones/${zone}`, { rrsets: [{ ...set, changetype: 'REPLACE', records }] });
  }
}

/** PowerDNS-Admin compares whole sets, with a comment for each record. */
async function powerDnsAdmin(zone: string, wanted: Wanted): Promise<void> {
  if ((await setsOf(zone)) === undefined) {
    const body = { name: zone, kind: 'Native', masters: [], nameservers: [], soa_edit_api: 'DEFAULT' };
    await send('POST', '/zones', body);
  }
  const pairs = (records: readonly Content[], comments: readonly Comment[]) => {
    const pad = records.map(({ content }, i) => [content, comments[i]?.content ?? ''] as const);
    return pad.sort(([a], [b]) => (a < b ? -1 : 1));
  };
  const submitted = [NS, ...wanted].map(([label, type, ttl, ...contents]) => {
    const records = contents.map((content) => ({ content, disabled: false }));
    const comments = contents.map((content) => ({
      content: label === '@' ? `for ${content}` : '',
      account: '',
    }));
    return { name: fullName(label, zone), type, ttl, records, comments: type === 'NS' ? [] : comments };
  });
  const print = ({ name, type, ttl, records, comments }: RrSet) =>
    JSON.stringify([name, type, ttl, pairs(records, comments)]);
  const current = ((await setsOf(zone)) ?? []).filter(({ type }) => type !== 'SOA');
  const held = new Set(current.map(print));
  const replaces = submitted.filter((set) => !held.has(print(set)));
  const keys = new Set(submitted.map(keyOf));
  const deletes = current.filter((set) => !keys.has(keyOf(set)));
  if (replaces.length + deletes.length === 0) return;
  await send('PATCH', `/zones/${zone}`, {
    rrsets: [
      ...deletes.map(({ name, type }) => ({ name, type, changetype: 'DELETE' })),
      ...replaces.map((set) => ({ ...set, changetype: 'REPLACE' })),
    ],
  });
}

/** The provider pdns of external-dns sends the listed zone back together with the changed sets. */
async function externalDns(zone: string, wanted: Wanted): Promise<void> {
  const listed = (await send('GET', '/zones')).body.find(({ name }: { name: string }) => name === zone);
  if (listed === undefined) {
    await send('POST', '/zones', { name: zone, kind: 'Native' });
    return await externalDns(zone, wanted);
  }
  const owned =
    (await setsOf(listed.id))?.filter(({ type, name }) => !(type === 'NS' && name === zone)) ?? [];
  const { changed, unwanted } = differences(zone, wanted, owned);
  const rrsets = [
    ...changed.map(({ contents, ...set }) => ({
      ...{ ...set, changetype: 'REPLACE', comments: [] },
      records: contents.map((content) => ({ content, disabled: false, 'set-ptr': false })),
    })),
    ...unwanted.map(({ name, type, records }) => ({ name, type, records, ttl: 0, changetype: 'DELETE' })),
  ];
  if (rrsets.length > 0) await send('PATCH', `/zones/${listed.id}`, { ...listed, rrsets });
}

const TOOLS = { octodns, dnscontrol, terraform, powerDnsAdmin, externalDns };

describe.each(Object.entries(TOOLS))('%s', (tool, sync) => {
  it('writes nothing in its second run', async () => {
    const zone = `${tool.toLowerCase()}.example.`;
    const withNs = (wanted: Wanted): Wanted =>
      sync === octodns || sync === dnscontrol ? [NS, ...wanted] : wanted;
    const other: Wanted = [
      ['@', 'A', 300, '192.0.2.3', '192.0.2.2'],
      ['www', 'A', 600, '192.0.2.4'],
      ['@', 'TXT', 300, '"v=spf1 -all"'],
    ];
    for (const wanted of [RECORDS, other, []]) {
      writes = 0;
      await sync(zone, withNs(wanted));
      const first = writes;
      await sync(zone, withNs(wanted));
      expect([first > 0, writes - first]).toEqual([true, 0]);
    }
    await send('DELETE', `/zones/${zone}`);
  });
});

const values = async (zone: string, type: string, label: string) =>
  (await setsOf(zone))
    ?.find((set) => set.type === type && set.name === `${label}.${zone}`)
    ?.records.map(({ content }) => content);

it('Proxmox VE adds and removes each address of a guest once', async () => {
  const zone = 'proxmox.example.';
  await send('POST', '/zones', { name: zone, kind: 'Native' });
  await send('GET', '');
  await send('GET', '/zones/proxmox.example?rrsets=false');
  const add = async (ip: string) => {
    const records = (await values(zone, 'A', 'vm')) ?? [];
    if (records.includes(ip)) return;
    const common = { disabled: false, name: `vm.${zone}`, type: 'A', priority: 0 };
    const all = [...records, ip].map((content) => ({ content, ...common }));
    const rrset = { name: `vm.${zone}`, type: 'A', ttl: 14_400, changetype: 'REPLACE', records: all };
    await send('PATCH', '/zones/proxmox.example', { rrsets: [rrset] });
  };
  writes = 0;
  for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) await add(ip);
  expect([writes, await values(zone, 'A', 'vm')]).toEqual([2, ['192.0.2.1', '192.0.2.2']]);
  const rrset = { name: `vm.${zone}`, type: 'A', changetype: 'DELETE', records: [] };
  await send('PATCH', '/zones/proxmox.example', { rrsets: [rrset] });
  expect(await values(zone, 'A', 'vm')).toBeUndefined();
});

it('cert-manager-webhook-pdns presents and cleans two challenges of a name', async () => {
  const zone = 'webhook.example.';
  await send('POST', '/zones', { name: zone, kind: 'Native' });
  const serial = async () => (await send('GET', `/zones/${zone}`)).body.serial;
  const write = async (change: (records: readonly string[]) => readonly string[]) => {
    const contents = change((await values(zone, 'TXT', '_acme-challenge')) ?? []);
    const records = contents.map((content) => ({ content, disabled: false }));
    const set = { name: `_acme-challenge.${zone}`, type: 'TXT', ttl: 120, changetype: 'REPLACE', records };
    await send('PATCH', `/zones/${zone}`, { rrsets: [set] });
  };
  const present = (text: string) =>
    write((records) => (records.includes(text) ? records : [...records, text]));
  const clean = (text: string) => write((records) => records.filter((each) => each !== text));
  await present('"1"');
  await present('"2"');
  const before = await serial();
  await present('"2"'); // cert-manager repeats calls
  expect([await serial(), await values(zone, 'TXT', '_acme-challenge')]).toEqual([before, ['"1"', '"2"']]);
  await clean('"1"');
  expect(await values(zone, 'TXT', '_acme-challenge')).toEqual(['"2"']);
  await clean('"2"');
  expect(await values(zone, 'TXT', '_acme-challenge')).toBeUndefined();
});
