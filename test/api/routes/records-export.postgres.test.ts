import { beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { findFaults } from '../../../src/zone/signing/check-signed.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { enabled } from '../../support/database/signed-zones.ts';

const api = sharedTestApi();
let domainId: number;
const PATH = '/domains/out.example/records/';

beforeAll(async () => {
  domainId = (await api.makeDomain('out.example')).id;
  await api.makeDomain('in.example');
  await api.makeDomain('elsewhere.example', { dnsMode: 'external' });
  const create = [
    { name: 'www', type: 'A', destination: '198.51.100.7', proxied: true, port: 8443, comment: 'a "b";\nc' },
    { name: '@', type: 'ANAME', destination: 'lb.example.net' },
    { name: 't', type: 'TXT', destination: 'x' },
    { name: 'sub', type: 'NS', destination: 'ns.sub.out.example' },
    { name: 'ns.sub', type: 'A', destination: '192.0.2.53' },
  ];
  const { status } = await api.ask('PUT', `${PATH}batch`, { body: { create } });
  expect(status).toBe(200);
});

describe('the view `origin`', () => {
  it('is a zone file with origins, and settings in comments', async () => {
    const { status, headers, text } = await api.ask('GET', `${PATH}export`);
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'text/dns; charset=utf-8',
      'attachment; filename="out.example.origin.zone"',
    ]);
    expect(text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      '$ORIGIN out.example.',
      '@ 300 IN ANAME lb.example.net.',
      'sub 300 IN NS ns.sub.out.example.',
      'ns.sub 300 IN A 192.0.2.53',
      't 300 IN TXT "x"',
      'www 300 IN A 198.51.100.7 ; zonefleet proxied=true port=8443 comment="a \\"b\\";\\nc"',
      '',
    ]);
  });

  it('can be imported into another domain unchanged', async () => {
    const { text } = await api.ask('GET', `${PATH}export?view=origin`);
    const moved = text.replaceAll('out.example', 'in.example');
    const into = '/domains/in.example/records/';
    const headers = { 'content-type': 'text/dns' };
    const parsed = await api.ask('POST', `${into}import/parse`, { body: moved, headers });
    expect(parsed.body).toMatchObject({ errors: [], skipped: [] });
    const { records } = parsed.body;
    const done = await api.ask('POST', `${into}import`, { body: { records } });
    expect(done.body).toMatchObject({ created: 5, failed: [] });
    expect((await api.ask('GET', `${into}export`)).text).toBe(moved);
  });
});

describe('the view `published`', () => {
  it('is a zone file with SOA and NS that any server reads', async () => {
    const { status, headers, text } = await api.ask('GET', `${PATH}export?view=published`);
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'text/dns; charset=utf-8',
      'attachment; filename="out.example.zone"',
    ]);
    expect(text).toMatch(/^\$ORIGIN out\.example\.\n\$TTL \d+\n@ +3600 IN SOA /);
    expect(text).toMatch(/^www +IN A 192\.0\.2\.1$/m);
    expect(text).not.toMatch(/ANAME|zonefleet proxied|198\.51\.100\.7/m);
  });

  it('lacks keys, signatures and proofs, which the view `signed` has for a signed domain', async () => {
    const signedView = () => api.ask('GET', `${PATH}export?view=signed`);
    const refused = await signedView();
    expect([refused.status, refused.body.code]).toEqual([400, 'wrong_state']);
    const { text: before } = await api.ask('GET', `${PATH}export?view=published`);
    await enabled(api.database.db, { domainId });
    const { status, headers, text } = await signedView();
    expect([status, headers['content-disposition']]).toEqual([
      200,
      'attachment; filename="out.example.signed.zone"',
    ]);
    const { records, problems } = parseZoneFile(text, {});
    expect(problems).toEqual([]);
    const faults = [...findFaults(parseName('out.example.'), records, Math.floor(Date.now() / 1000))];
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
    const types = new Set(records.map(({ type }) => type));
    for (const type of [TYPE.DNSKEY, TYPE.RRSIG, TYPE.NSEC]) expect(types).toContain(type);
    const { text: after } = await api.ask('GET', `${PATH}export?view=published`);
    const withoutSerial = (zone: string) => zone.replace(/\d+( +; serial)/, '$1');
    expect(withoutSerial(after)).toBe(withoutSerial(before));
  });

  it('is refused for an external domain', async () => {
    const answer = await api.ask('GET', '/domains/elsewhere.example/records/export?view=published');
    expect([answer.status, answer.body.code]).toEqual([400, 'wrong_state']);
    expect((await api.ask('GET', '/domains/elsewhere.example/records/export')).status).toBe(200);
  });
});

it('another view is refused', async () => {
  const answer = await api.ask('GET', `${PATH}export?view=all`);
  expect([answer.status, answer.body.fields[0].field]).toEqual([400, 'view']);
});
