// The checks as the API shows them. test/checks covers the findings, test/store/checks the storage.

import { describe, expect, it } from 'vitest';
import type { ChildFinding } from '../../../src/checks/child/child-findings.ts';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import type { CheckKind } from '../../../src/jobs/jobs.ts';
import { saveChildCheck } from '../../../src/store/checks/child-checks.ts';
import { noteCheckedDomains } from '../../../src/store/checks/due-child-checks.ts';
import { readPages, sharedTestApi } from '../../support/api/api.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';
import { madeChild } from '../../support/world/made-child.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];

const api = sharedTestApi();
let domains = 0;

async function freshDomain() {
  const name = `c${++domains}.example`;
  const { id } = await api.makeDomain(name);
  const path = `/domains/${name}/checks`;
  return { id, name, path, get: async (end = '') => (await api.ask('GET', path + end)).body };
}

async function check(
  domainId: number,
  said: Said | ((domain: Name) => Evidence),
  kind: CheckKind = 'manual',
): Promise<number> {
  // A background check that is not due would be skipped.
  await api.query`update domain_checks set next_at = now() - interval '1 minute' where domain_id = ${domainId}`;
  const outcome = await makeCheck(api.database.db, { domainId, kind }, (domain) =>
    typeof said === 'function' ? said(domain) : evidenceOf(domain, said),
  );
  if (outcome.kind !== 'saved') throw new Error(outcome.kind);
  return outcome.checkId;
}

const ids = (body: { id: number }[]) => body.map(({ id }) => id);

describe('the log of checks', () => {
  it('lists checks with verdict, findings and statuses, newest first', async () => {
    const { id, path } = await freshDomain();
    expect(await api.ask('GET', path)).toMatchObject({ status: 200, body: [] });
    const first = await check(id, ['ns1.example.net.', 'ns9.other.test.']);
    const second = await check(id, OURS, 'operator');
    const { status, body } = await api.ask('GET', path, { as: 'viewer' });
    expect(status).toBe(200);
    const common = {
      domain_id: id,
      started_at: expect.any(String),
      finished_at: expect.any(String),
      repeated: 0,
      status_before: 'pending',
      parent: 'example',
      queries: 2,
      next_check_at: expect.any(String),
    };
    const ours = ['ns1.example.net', 'ns2.example.net'];
    const missing = expect.stringContaining('ns2.example.net');
    expect(body).toEqual([
      {
        ...common,
        id: second,
        kind: 'operator',
        last_seen_at: body[0].finished_at,
        verdict: 'match',
        findings: [],
        status_after: 'active',
        current_ns: ours,
        matched_set: ours,
      },
      {
        ...common,
        id: first,
        kind: 'manual',
        last_seen_at: body[1].finished_at,
        verdict: 'partial',
        findings: [
          { code: 'NS_MISSING', message: missing, names: ['ns2.example.net'] },
          { code: 'NS_EXTRA', message: expect.any(String), names: ['ns9.other.test'] },
        ],
        status_after: 'pending',
        current_ns: ['ns1.example.net', 'ns9.other.test'],
      },
    ]);
  });

  it('is paged, sorted, filtered and counted', async () => {
    const { id, path, get } = await freshDomain();
    const made: number[] = [];
    for (let i = 0; i < 4; i++) made.unshift(await check(id, [`ns${i}.other.test.`]));
    const last = await check(id, 'nxdomain', 'background');
    for (const _ of [1, 2]) expect(await check(id, 'nxdomain', 'background')).toBe(last);
    made.unshift(last);
    // A check with an unchanged result is counted on the first one that had it.
    const [{ repeated, current_ns, last_seen_at, finished_at }] = await get();
    expect([repeated, current_ns]).toEqual([2, []]);
    expect(Date.parse(last_seen_at)).toBeGreaterThanOrEqual(Date.parse(finished_at));
    const pages = await readPages(api, `${path}?limit=2`);
    expect(pages.map(({ body }) => ids(body))).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)]);
    for (const [query, expected, count] of [
      ['', made, undefined],
      [`after=${made[3]}`, made.slice(0, 3), undefined],
      ['sort=id&offset=1&limit=2&count=true', [made[3], made[2]], '5'],
      ['verdict=UNREGISTERED&kind=background&count=true', made.slice(0, 1), '1'],
      ['verdict=alias,match&kind=operator&count=true', [], '0'],
    ] as const) {
      const { body, headers } = await api.ask('GET', `${path}?${query}`);
      expect([query, ids(body), headers['x-total-count']]).toEqual([query, expected, count]);
    }
    for (const query of ['cursor=x', 'evidence=maybe', 'kind=me', 'verdict=good', 'sort=kind'])
      expect((await get(`?${query}`)).code).toBe('validation_failed');
  });

  it('contains on request the response of each server of the parent, and the walk to it', async () => {
    const { id, path, get } = await freshDomain();
    expect((await api.ask('GET', `${path}/latest`)).status).toBe(404);
    const glue = [{ name: parseName('ns1.example.net.'), address: '192.0.2.1' }];
    const run = await check(id, (domain) => evidenceOf(domain, OURS, { glue }));
    const [shown] = await get('?evidence=true');
    const server = {
      server: 'a.nic.test',
      address: '192.0.2.53',
      transport: 'udp',
      asked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      rtt_ms: 12,
      outcome: 'referral',
      rcode: 0,
      aa: false,
      ns: ['ns1.example.net', 'ns2.example.net'],
      glue: [{ name: 'ns1.example.net', address: '192.0.2.1' }],
      ttl: 3600,
    };
    expect(shown.evidence).toEqual([server, { ...server, server: 'b.nic.test', address: '192.0.2.54' }]);
    expect(shown.security).toBe('indeterminate');
    expect(shown.walk).toEqual([
      { zone: '.', servers: ['a.root'], cached: true },
      { zone: 'example', servers: ['a.nic.test', 'b.nic.test'], cached: false },
    ]);
    expect(await get(`/${run}`)).toEqual(shown);
    expect((await api.ask('GET', `${path}/latest`, { as: 'viewer' })).body).toEqual(shown);
    const [bare] = await get('?evidence=false');
    for (const field of ['evidence', 'security', 'walk']) expect(bare).not.toHaveProperty(field);
  });

  it('contains the DNSSEC state of the parent and of each reply', async () => {
    const { id, get } = await freshDomain();
    const secure = (said: Said, more = {}) =>
      check(id, (domain) => ({ ...evidenceOf(domain, said, more), security: 'secure' }));
    await secure('nxdomain', { proof: 'secure' });
    expect(await get('/latest')).toMatchObject({
      security: 'secure',
      verdict: 'unregistered',
      evidence: [{ proof: 'secure' }, {}],
    });
    await secure('bogus');
    expect(await get('/latest')).toMatchObject({
      verdict: 'unknown',
      findings: [{ code: 'PARENT_BOGUS' }],
      evidence: [{ outcome: 'bogus' }, {}],
    });
  });

  it('omits what a silent server did not send, and prints DS records in zone file format', async () => {
    const { id, get } = await freshDomain();
    await check(id, 'timeout');
    const silent = await get('/latest');
    expect(silent).toMatchObject({ verdict: 'unknown', status_after: 'pending' });
    expect(silent).not.toHaveProperty('current_ns');
    expect(silent.evidence[0]).toEqual({
      server: 'a.nic.test',
      address: '192.0.2.53',
      transport: 'udp',
      asked_at: expect.any(String),
      outcome: 'timeout',
      error: 'no answer',
    });
    const ds = new Uint8Array([0x12, 0x34, 8, 2, ...Array(32).fill(0xab)]);
    const needed = ['tcp', 'no_edns'] as const;
    const more = { ds: [ds], address: '', transport: 'database', rttMs: undefined, needed } as const;
    await check(id, (domain) => evidenceOf(domain, OURS, more));
    const stale = await get('/latest');
    expect(stale).toMatchObject({
      verdict: 'match',
      status_after: 'pending',
      findings: expect.arrayContaining([expect.objectContaining({ code: 'STALE_DS' })]),
      evidence: [{ transport: 'database', ds: [`4660 8 2 ${'AB'.repeat(32)}`], needed }, {}],
    });
    for (const field of ['address', 'rtt_ms']) expect(stale.evidence[0]).not.toHaveProperty(field);
  });
});

it("a check and the domain contain problems of the domain's own nameservers", async () => {
  const { id: domainId, name, path, get } = await freshDomain();
  const checkId = await check(domainId, OURS);
  await noteCheckedDomains(api.database.db, [{ domainId, isByHand: false }]);
  const finding = (code: ChildFinding['code'], place: ChildFinding['place']): ChildFinding => ({
    code,
    severity: 'error',
    place,
    message: `${code}.`,
    names: [parseName('ns1.example.net.')],
  });
  await saveChildCheck(api.database.db, {
    domainId,
    wantedNs: OURS,
    evidence: madeChild(),
    findings: [
      finding('TCP_REFUSED', 'zone'),
      finding('TOO_FEW_NAMES', 'registrar'),
      finding('OUR_SERVERS_UNREACHABLE', 'operator'),
    ],
    nextAt: Date.now(),
  });
  const { child } = await get(`/${checkId}`);
  expect(child).toMatchObject({ complete: true, queries: 12, checked_at: expect.any(String) });
  const common = { severity: 'error', names: ['ns1.example.net'] };
  // Owners see no errors of the fleet's servers.
  expect(child.findings).toEqual([
    { ...common, code: 'TCP_REFUSED', place: 'zone', message: 'TCP_REFUSED.' },
    { ...common, code: 'TOO_FEW_NAMES', place: 'registrar', message: 'TOO_FEW_NAMES.' },
  ]);
  expect(child.addresses[0]).toEqual({
    address: '5.3.0.1',
    servers: ['ns1.example.com'],
    soa: 'answer',
    ns: 'answer',
    tcp: 'answer',
    edns: 'works',
    serial: 1,
  });
  const admin = await api.ask('GET', `${path}/${checkId}`, { as: 'operator' });
  expect(admin.body.child.findings).toHaveLength(3);
  expect((await get())[0]).not.toHaveProperty('child');
  // The domain itself shows what its owner can change at the registrar.
  const { body } = await api.ask('GET', `/domains/${name}`);
  expect(body.findings).toEqual([{ code: 'TOO_FEW_NAMES', message: 'TOO_FEW_NAMES.' }]);
});
