// Sends the same requests to PowerDNS 4.7 and to Zonefleet, and compares the statuses, and the keys and types of the JSON.
// `WHY` explains each difference. docs/tools/powerdns-api.md documents them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';
import { POWER_DNS_NEEDS, startPowerDnsApi } from '../../support/peers/power-dns-api.ts';

const S = '/api/v1/servers/localhost';
const Z = `${S}/zones`;
const A = `${Z}/a.example.`;
const M = `${A}/metadata`;
const T = `${S}/tsigkeys`;

const WHY = {
  newer: 'EXTEND and PRUNE exist since PowerDNS 4.9.12',
  disabled: 'records cannot be disabled',
  types: 'LUA records cannot be written',
  rules: 'a DS record belongs to a delegation',
  copy: 'the records of a Slave cannot be written',
  untransferred: 'until the first transfer, a Slave has its earlier records',
  kinds: 'an unknown kind is refused',
  masters: 'a Slave has a master, and other zones have none',
  master: 'masters must have public addresses',
  texts: 'members of the wrong type are refused',
  numbers: 'an invalid number is refused, and is not an internal error',
  nameservers: 'the service sets SOA and NS of the apex',
  zoneFile: 'zone files are not read',
  statistics: 'only the uptime is reported',
  keys: 'DNSSEC keys are managed by the service',
  stored: 'SOA-EDIT-API and API-RECTIFY can be written as metadata',
  metadata: 'kinds without an equivalent are refused',
  autoNs: 'AUTO-NS is refused',
  change: 'TSIG keys cannot be changed',
  export: 'the export is text, whatever the client accepts',
} as const;
type Reason = keyof typeof WHY;

type Asked = [method: string, path: string, body?: unknown, why?: Reason | undefined];

const set = (name: string, type: string, contents: string[], more: object = {}) => ({
  ...{ name, type, ttl: 300, changetype: 'REPLACE' },
  records: contents.map((content) => ({ content, disabled: false })),
  ...more,
});
const patch = (why: Reason | undefined, ...rrsets: unknown[]): Asked => ['PATCH', A, { rrsets }, why];
const www = (more: object) => set('www.a.example.', 'A', ['192.0.2.1'], more);

const CONTENTS: readonly (readonly [type: string, content: string, why?: Reason])[] = [
  ['A', '192.0.2.1'],
  ['A', '192.0.2.256'],
  ['AAAA', '2001:DB8::0:1'],
  ['AAAA', '192.0.2.1'],
  ['CNAME', 'x.example.'],
  ['CNAME', 'x.example'],
  ['TXT', '"a b"'],
  ['TXT', '"a" "b"'],
  ['TXT', 'a'],
  ['TXT', '"a'],
  ['MX', '10 mail.example.'],
  ['MX', 'mail.example.'],
  ['MX', '10 mail.example'],
  ['SRV', '1 2 3 sip.example.'],
  ['SRV', '1 2 3 sip.example'],
  ['SRV', '1 2 sip.example.'],
  ['NS', 'ns.example.'],
  ['PTR', 'host.example.'],
  ['CAA', '0 issue "ca.example"'],
  ['CAA', 'issue "ca.example"'],
  ['TLSA', '3 1 1 8cb0fc6c527506a053f4f14c8464bebbd6dede2738d11468dd953d7d6a3021f1'],
  ['SSHFP', '4 2 8cb0fc6c527506a053f4f14c8464bebbd6dede2738d11468dd953d7d6a3021f1'],
  ['HTTPS', '1 . alpn=h2'],
  ['SVCB', '1 svc.example. port=53'],
  ['DS', '1 13 2 8cb0fc6c527506a053f4f14c8464bebbd6dede2738d11468dd953d7d6a3021f1', 'rules'],
  ['NAPTR', '10 20 "u" "sip" "" ali.example.'],
  ['LOC', '51 30 12.748 N 0 7 39.611 W 0.00m 0.00m 0.00m 0.00m'],
  ['DNAME', 'other.example.'],
  ['ALIAS', 'x.example.'],
  ['HINFO', '"a" "b"'],
  ['URI', '10 1 "https://x.example/"'],
  ['LUA', 'A "return 1"', 'types'],
  ['NONE', 'x'],
];

const REQUESTS: readonly Asked[] = [
  ['GET', '/api'],
  ['GET', '/api/v1'],
  ['GET', '/api/v1/servers'],
  ['GET', S],
  ['GET', '/api/v1/servers/other'],
  ['GET', '/api/v1/servers/other/zones'],
  ['GET', `${S}/nothing`],
  ['PUT', '/api'],
  ['POST', '/api/v1/servers'],
  ['GET', `${S}/config`],
  ['GET', `${S}/config/nothing`],
  ['GET', `${S}/autoprimaries`],
  ['GET', `${S}/statistics`, undefined, 'statistics'],
  ['GET', `${S}/statistics?statistic=uptime`],
  ['GET', `${S}/statistics?statistic=nothing`],
  ['GET', Z],
  ['GET', A],
  ['POST', Z],
  ['POST', Z, '{'],
  ['POST', Z, []],
  ['POST', Z, {}],
  ['POST', Z, { name: 5 }],
  ['POST', Z, { name: 'a.example', kind: 'Native' }],
  ['POST', Z, { name: 'a..example.', kind: 'Native' }],
  ['POST', Z, { name: 'a.example.', kind: 'Native', nameservers: ['ns1.example.net.', 'ns2.example.net.'] }],
  ['POST', Z, { name: 'a.example.', kind: 'Native' }],
  ['POST', Z, { name: 'b.example.', kind: 'Master', nameservers: ['ns1.example.net'] }],
  ['POST', Z, { name: 'b.example.', kind: 'Other' }, 'kinds'],
  ['DELETE', `${Z}/b.example.`, undefined, 'kinds'],
  ['POST', Z, { name: 'b.example.', kind: 'Slave' }, 'masters'],
  ['DELETE', `${Z}/b.example.`, undefined, 'masters'],
  ['POST', Z, { name: 'b.example.', kind: 'Slave', masters: ['x'] }],
  ['POST', Z, { name: 'b.example.', kind: 'Slave', masters: ['192.0.2.1'] }, 'master'],
  ['DELETE', `${Z}/b.example.`, undefined, 'master'],
  ['POST', Z, { name: 'c.example.', kind: 'Slave', masters: ['198.41.0.4'] }, 'untransferred'],
  ['GET', `${Z}/c.example.?rrsets=false`],
  ['PUT', `${Z}/c.example./axfr-retrieve`],
  ['PUT', `${Z}/c.example./notify`],
  ['PATCH', `${Z}/c.example.`, { rrsets: [set('w.c.example.', 'A', ['192.0.2.1'])] }, 'copy'],
  ['PUT', `${Z}/c.example.`, { masters: ['198.41.0.4', '199.9.14.201'] }],
  ['PUT', `${Z}/c.example.`, { kind: 'Native', masters: [] }],
  [
    'POST',
    Z,
    {
      name: 'd.example.',
      kind: 'Native',
      rrsets: [set('w.d.example.', 'A', ['192.0.2.1'])],
      nameservers: [],
    },
  ],
  ['POST', Z, { name: 'e.example.', kind: 'Native', rrsets: [set('w.d.example.', 'A', ['192.0.2.1'])] }],
  ['POST', Z, { name: 'e.example.', kind: 'Native', rrsets: [set('w.e.example.', 'A', ['x'])] }],
  ['POST', Z, { name: 'e.example.', kind: 'Native', zone: 'e.example. 60 IN A 192.0.2.1\n' }, 'zoneFile'],
  ['DELETE', `${Z}/e.example.`, undefined, 'zoneFile'],
  ['POST', Z, { name: 'f.example.', kind: 'Native', dnssec: true, soa_edit_api: 'INCREASE', account: 'x' }],
  ['GET', `${Z}/f.example.?rrsets=false`],
  ['GET', `${Z}/f.example./cryptokeys/99999`],
  ['GET', Z],
  ['GET', `${Z}?zone=a.example.`],
  ['GET', `${Z}?zone=nothing.example.`],
  ['GET', `${Z}?zone=a.example`],
  ['GET', `${Z}?dnssec=false`],
  ['GET', A],
  ['GET', `${Z}/a.example`],
  ['GET', `${Z}/A=2EEXAMPLE.`],
  ['GET', `${A}?rrsets=false`],
  ['GET', `${A}?rrsets=maybe`],
  ['GET', `${A}?rrset_name=a.example.`],
  ['GET', `${A}?rrset_name=a.example.&rrset_type=NS`],
  ['GET', `${A}?rrset_name=nothing.a.example.`],
  ['GET', `${A}?rrset_type=NS`],
  ['GET', `${Z}/nothing.example.`],
  ['GET', `${A}/export`, undefined, 'export'],
  ['GET', `${Z}/nothing.example./export`],
  ['PATCH', Z, {}],
  ['POST', A, {}],
  ['PATCH', A],
  ['PATCH', A, '{'],
  ['PATCH', A, {}],
  ['PATCH', A, { rrsets: {} }],
  ['PATCH', A, { rrsets: [] }],
  ['PATCH', `${Z}/nothing.example.`, { rrsets: [] }],
  patch(undefined, 5),
  patch(undefined, www({ name: undefined })),
  patch(undefined, www({ name: 5 })),
  patch(undefined, www({ name: 'www.a.example' })),
  patch(undefined, www({ name: 'www.b.example.' })),
  patch(undefined, www({ name: 'w w.a.example.' })),
  patch(undefined, www({ type: undefined })),
  patch(undefined, www({ type: 'a' })),
  patch(undefined, www({ ttl: undefined })),
  patch('numbers', www({ ttl: 'x' })),
  patch(undefined, www({ ttl: '300' })),
  patch(undefined, www({ ttl: 1 })),
  patch(undefined, www({ changetype: undefined })),
  patch(undefined, www({ changetype: 'OTHER' })),
  patch(undefined, www({ changetype: 'replace' })),
  patch(undefined, www({ records: undefined })),
  patch(undefined, www({ records: {} })),
  patch(undefined, www({ records: [{}] })),
  patch(undefined, www({ records: [{ content: 5 }] })),
  patch(undefined, www({ records: [{ content: '192.0.2.1' }, { content: '192.0.2.1' }] })),
  patch(undefined, www({ records: [{ content: '192.0.2.1', disabled: 'x' }] })),
  patch('disabled', www({ records: [{ content: '192.0.2.1', disabled: true }] })),
  patch(undefined, www({ comments: [{ content: 'of the web', account: 'me' }] })),
  ['GET', `${A}?rrset_name=www.a.example.`],
  patch(undefined, www({ comments: [{}] })),
  patch(undefined, www({}), www({})),
  patch(undefined, www({ changetype: 'DELETE' }), www({})),
  patch('newer', www({ changetype: 'EXTEND', records: [{ content: '192.0.2.2' }] })),
  patch('newer', www({ changetype: 'PRUNE', records: [{ content: '192.0.2.2' }] })),
  patch(undefined, set('www.a.example.', 'CNAME', ['x.example.'])),
  patch(undefined, www({ changetype: 'DELETE' })),
  patch(undefined, www({ changetype: 'DELETE' })),
  patch(undefined, set('www.a.example.', 'CNAME', ['x.example.', 'y.example.'])),
  patch(undefined, set('www.a.example.', 'CNAME', ['x.example.'])),
  patch(undefined, www({})),
  patch(undefined, set('www.a.example.', 'CNAME', [], { changetype: 'DELETE' }), www({})),
  patch(undefined, set('*.a.example.', 'A', ['192.0.2.1'])),
  patch(undefined, set('*.a.example.', 'A', [])),
  patch('nameservers', set('a.example.', 'NS', ['ns.other.example.'])),
  patch('nameservers', set('a.example.', 'SOA', ['a.example. b.example. 1 2 3 4 5'])),
  patch('nameservers', set('a.example.', 'NS', [], { changetype: 'DELETE' })),
  ...CONTENTS.map(([type, content, why]) =>
    patch(why, set(`${type}-x.a.example.`.toLowerCase(), type, [content])),
  ),
  ['GET', A],
  ['GET', `${S}/search-data?q=www*`],
  ['GET', `${S}/search-data?q=*a.example*&object_type=zone`],
  ['GET', `${S}/search-data?q=*&object_type=record&max=1`],
  ['GET', `${S}/search-data?q=nothing`],
  ['GET', `${S}/search-data`],
  ['GET', `${S}/search-data?q=*&max=0`],
  ['GET', `${S}/search-data?q=*&max=x`, undefined, 'numbers'],
  ['GET', `${S}/search-data?q=*&object_type=other`],
  ['PUT', `${S}/cache/flush?domain=a.example.`],
  ['PUT', `${S}/cache/flush?domain=a.example`],
  ['PUT', `${S}/cache/flush`],
  ['PUT', A],
  ['PUT', A, {}],
  ['PUT', A, { kind: 'Master' }],
  ['PUT', A, { kind: 'Other' }, 'kinds'],
  ['PUT', A, { account: 'me', soa_edit_api: 'EPOCH', api_rectify: true }],
  ['PUT', A, { kind: 'Native', masters: [] }],
  ['PUT', A, { masters: 'x' }, 'texts'],
  ['PUT', A, { masters: ['198.41.0.4'] }, 'masters'],
  ['PUT', `${Z}/nothing.example.`, {}],
  ['PUT', `${A}/notify`],
  ['PUT', `${A}/rectify`],
  ['PUT', `${A}/axfr-retrieve`, undefined, 'masters'],
  ['PUT', `${Z}/nothing.example./notify`],
  ['GET', `${A}/cryptokeys`],
  ['POST', `${A}/cryptokeys`, { keytype: 'csk', active: true }, 'keys'],
  ['PUT', `${A}/cryptokeys/99999`, { active: false }, 'keys'],
  ['DELETE', `${A}/cryptokeys/99999`, undefined, 'keys'],
  ['PUT', A, { dnssec: true }],
  ['PUT', A, { dnssec: false }],
  ['GET', M],
  ['GET', `${M}/ALLOW-AXFR-FROM`],
  ['GET', `${M}/TSIG-ALLOW-AXFR`],
  ['GET', `${M}/OTHER`],
  ['POST', M, {}],
  ['POST', M, { kind: 'X-A' }],
  ['POST', M, { kind: 'X-A', metadata: ['a', 'b'] }],
  ['POST', M, { kind: 'X-A', metadata: ['c'] }],
  ['POST', M, { kind: 'OTHER', metadata: ['a'] }],
  ['PUT', `${M}/X-A`, { kind: 'X-A', metadata: ['c'] }],
  ['PUT', `${M}/X-A`, { metadata: 'c' }],
  ['PUT', `${M}/X-A`, {}],
  ['GET', `${M}/X-A`],
  ['DELETE', `${M}/X-A`],
  ['DELETE', `${M}/X-A`],
  ['POST', M, { kind: 'ALLOW-AXFR-FROM', metadata: ['192.0.2.0/24'] }],
  ['PUT', `${M}/ALLOW-AXFR-FROM`, { metadata: ['AUTO-NS'] }, 'autoNs'],
  ['PUT', `${M}/ALSO-NOTIFY`, { metadata: ['198.41.0.4:5300'] }],
  ['PUT', `${M}/SOA-EDIT-API`, { metadata: ['INCREASE'] }, 'stored'],
  ['PUT', `${M}/API-RECTIFY`, { metadata: ['1'] }, 'stored'],
  ['PUT', `${M}/PUBLISH-CDS`, { metadata: ['2'] }, 'metadata'],
  ['PUT', `${M}/PRESIGNED`, { metadata: ['1'] }],
  ['GET', M],
  ['GET', T],
  ['POST', T, {}],
  ['POST', T, { name: 'k1' }],
  ['POST', T, { name: 'k1', algorithm: 'hmac-other' }],
  ['POST', T, { name: 'k1', algorithm: 'hmac-sha256', key: '@@' }],
  ['POST', T, { name: 'k1', algorithm: 'hmac-sha256', key: 'AAECAwQFBgcICQ==' }],
  ['POST', T, { name: 'k1', algorithm: 'hmac-sha256', key: 'AAECAwQFBgcICQ==' }],
  ['POST', T, { name: 'k2', algorithm: 'hmac-sha256' }],
  ['GET', T],
  ['GET', `${T}/k1.`],
  ['GET', `${T}/k1`],
  ['GET', `${T}/nothing.`],
  ['PUT', `${T}/k1.`, { key: 'AAECAwQFBgcICQoL' }, 'change'],
  ['DELETE', `${T}/k1.`],
  ['DELETE', `${T}/k1.`],
  ['PUT', A, { rrsets: [] }],
  ['DELETE', A],
  ['DELETE', A],
];

/** Returns the keys and types of a value. For an array, returns the distinct shapes of its items. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shapes = new Set(value.map((item) => JSON.stringify(shapeOf(item))));
    return [...shapes].sort();
  }
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, shapeOf(member)]),
  );
}

function shown({ status, text }: { readonly status: number; readonly text: string }) {
  return { status, shape: text === '' ? '' : shapeOf(JSON.parse(text)) };
}

describe.skipIf(POWER_DNS_NEEDS !== '')(`the PowerDNS API${POWER_DNS_NEEDS}`, () => {
  const api = sharedTestApi();
  let peer: Awaited<ReturnType<typeof startPowerDnsApi>>;
  beforeAll(async () => {
    peer = await startPowerDnsApi();
  });
  afterAll(() => peer?.stop());

  it(`answers ${REQUESTS.length} requests as PowerDNS 4.7, except for differences with a reason`, async () => {
    const found: unknown[] = [];
    const used = new Set<Reason>();
    for (const [method, path, body, why] of REQUESTS) {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const powerDns = await peer.ask(method, path, text);
      const zonefleet = await api.ask(method, path, {
        headers: { 'content-type': 'application/json' },
        ...(text !== undefined && { body: text }),
      });
      let isEqual = false;
      try {
        isEqual = JSON.stringify(shown(zonefleet)) === JSON.stringify(shown(powerDns));
      } catch {
        // One of the bodies is not JSON, so they differ.
      }
      if (why !== undefined) used.add(why);
      if (isEqual === (why !== undefined))
        found.push({
          asked: `${method} ${path} ${text ?? ''}`,
          why,
          zonefleet: `${zonefleet.status} ${zonefleet.text}`,
          powerDns: `${powerDns.status} ${powerDns.text}`,
        });
    }
    expect(found).toEqual([]);
    expect([...used].sort()).toEqual(Object.keys(WHY).sort());
  });
});
