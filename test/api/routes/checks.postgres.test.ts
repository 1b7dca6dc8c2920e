import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ChildFinding } from '../../../src/checks/child/child-findings.ts';
import { parseName } from '../../../src/dns/name.ts';
import type { CheckKind } from '../../../src/queue/jobs.ts';
import { noteCheckedDomains } from '../../../src/store/child/note-checked-domains.ts';
import { saveChildCheck } from '../../../src/store/child/save-child-check.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';
import { madeChild } from '../../support/world/made-child.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];

const api = sharedTestApi();
let domains = 0;

async function freshDomain() {
  const name = `c${++domains}.example`;
  const { id } = await api.makeDomain(name);
  return { id, name, path: `/domains/${name}/checks` };
}

async function check(domainId: number, said: Said, kind: CheckKind = 'manual'): Promise<number> {
  // A background check that is not due would be skipped.
  await sql`update domain_checks set next_at = now() - interval '1 minute' where domain_id = ${domainId}`.execute(
    api.database.db,
  );
  const outcome = await makeCheck(api.database.db, { domainId, kind }, (domain) => evidenceOf(domain, said));
  if (outcome.kind !== 'saved') throw new Error(outcome.kind);
  return outcome.checkId;
}

const ids = (body: { id: number }[]) => body.map(({ id }) => id);

describe('the log of checks', () => {
  it('is empty before the first check', async () => {
    const { path } = await freshDomain();
    expect(await api.ask('GET', path)).toMatchObject({ status: 200, body: [] });
  });

  it('lists checks with verdict, findings and statuses, newest first', async () => {
    const { id, path } = await freshDomain();
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
    expect(body).toEqual([
      {
        ...common,
        id: second,
        kind: 'operator',
        last_seen_at: body[0].finished_at,
        verdict: 'match',
        findings: [],
        status_after: 'active',
        current_ns: ['ns1.example.net', 'ns2.example.net'],
        matched_set: ['ns1.example.net', 'ns2.example.net'],
      },
      {
        ...common,
        id: first,
        kind: 'manual',
        last_seen_at: body[1].finished_at,
        verdict: 'partial',
        findings: [
          {
            code: 'NS_MISSING',
            message: expect.stringContaining('ns2.example.net'),
            names: ['ns2.example.net'],
          },
          { code: 'NS_EXTRA', message: expect.any(String), names: ['ns9.other.test'] },
        ],
        status_after: 'pending',
        current_ns: ['ns1.example.net', 'ns9.other.test'],
      },
    ]);
  });

  it('counts repeated results on the first check that had them', async () => {
    const { id, path } = await freshDomain();
    const first = await check(id, 'nxdomain', 'background');
    for (const _ of [1, 2]) expect(await check(id, 'nxdomain', 'background')).toBe(first);
    const { body } = await api.ask('GET', path);
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      id: first,
      kind: 'background',
      repeated: 2,
      verdict: 'unregistered',
      current_ns: [],
    });
    expect(Date.parse(body[0].last_seen_at)).toBeGreaterThanOrEqual(Date.parse(body[0].finished_at));
  });

  it('is paged, sorted, filtered and counted', async () => {
    const { id, path } = await freshDomain();
    const made: number[] = [];
    for (let i = 0; i < 4; i++) made.unshift(await check(id, [`ns${i}.other.test.`]));
    made.unshift(await check(id, 'nxdomain', 'background'));
    expect(ids((await api.ask('GET', path)).body)).toEqual(made);
    const seen: number[] = [];
    let next: string | undefined = `${path}?limit=2`;
    while (next !== undefined) {
      const { body, headers } = await api.ask('GET', next);
      seen.push(...ids(body));
      next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
    }
    expect(seen).toEqual(made);
    for (const [query, expected, count] of [
      [`after=${made[3]}`, made.slice(0, 3), undefined],
      ['sort=id&offset=1&limit=2&count=true', [made[3], made[2]], '5'],
      ['verdict=UNREGISTERED&kind=background&count=true', made.slice(0, 1), '1'],
      ['verdict=alias,match&kind=operator&count=true', [], '0'],
    ] as const) {
      const { body, headers } = await api.ask('GET', `${path}?${query}`);
      expect([query, ids(body), headers['x-total-count']]).toEqual([query, expected, count]);
    }
    for (const query of ['cursor=x', 'evidence=maybe', 'kind=me', 'verdict=good', 'sort=kind'])
      expect((await api.ask('GET', `${path}?${query}`)).body.code).toBe('validation_failed');
  });

  it('has the latest check with the walk to the parent and glue', async () => {
    const { id, name, path } = await freshDomain();
    expect((await api.ask('GET', `${path}/latest`)).status).toBe(404);
    await check(id, OURS);
    const glue = [{ name: parseName('ns1.example.net.'), address: '192.0.2.1' }];
    const made = await makeCheck(api.database.db, { domainId: id, kind: 'manual' }, (domain) =>
      evidenceOf(domain, OURS, { glue }),
    );
    const { body } = await api.ask('GET', `${path}/latest`, { as: 'viewer' });
    expect(body.id).toBe(made.kind === 'saved' ? made.checkId : 0);
    expect(body).toEqual((await api.ask('GET', `/domains/${name}/checks/${body.id}`)).body);
    expect(body.walk).toEqual([
      { zone: '.', servers: ['a.root'], cached: true },
      { zone: 'example', servers: ['a.nic.test', 'b.nic.test'], cached: false },
    ]);
    expect(body.evidence[0].glue).toEqual([{ name: 'ns1.example.net', address: '192.0.2.1' }]);
  });

  it('contains the evidence on request', async () => {
    const { id, path } = await freshDomain();
    const run = await check(id, OURS);
    const { body } = await api.ask('GET', `${path}?evidence=true`);
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
      ttl: 3600,
    };
    expect(body[0].evidence).toEqual([server, { ...server, server: 'b.nic.test', address: '192.0.2.54' }]);
    expect(body[0].security).toBe('indeterminate');
    const [bare] = (await api.ask('GET', `${path}?evidence=false`)).body;
    expect(bare).not.toHaveProperty('evidence');
    expect(bare).not.toHaveProperty('security');
    expect((await api.ask('GET', `${path}/${run}`)).body).toEqual(body[0]);
  });

  it('contains the DNSSEC state of the parent and of each reply', async () => {
    const { id, path } = await freshDomain();
    const secure = { security: 'secure' } as const;
    await makeCheck(api.database.db, { domainId: id }, (domain) => ({
      ...evidenceOf(domain, 'nxdomain', { proof: 'secure' }),
      ...secure,
    }));
    const [proven] = (await api.ask('GET', `${path}?evidence=true`)).body;
    expect(proven).toMatchObject({ security: 'secure', verdict: 'unregistered' });
    expect(proven.evidence[0].proof).toBe('secure');
    await makeCheck(api.database.db, { domainId: id }, (domain) => ({
      ...evidenceOf(domain, 'bogus'),
      ...secure,
    }));
    const [forged] = (await api.ask('GET', `${path}?evidence=true`)).body;
    expect(forged).toMatchObject({ verdict: 'unknown', findings: [{ code: 'PARENT_BOGUS' }] });
    expect(forged.evidence[0]).toMatchObject({ outcome: 'bogus' });
  });

  it('omits what a silent server did not send, and prints DS records as in a zone file', async () => {
    const { id, path } = await freshDomain();
    await check(id, 'timeout');
    const silent = (await api.ask('GET', `${path}?evidence=true`)).body[0];
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
    const more = { ds: [ds], address: '', transport: 'database', rttMs: undefined } as const;
    await makeCheck(api.database.db, { domainId: id }, (domain) => evidenceOf(domain, OURS, more));
    const [stale] = (await api.ask('GET', `${path}?evidence=true`)).body;
    expect(stale).toMatchObject({
      verdict: 'match',
      status_after: 'pending',
      findings: [{ code: 'STALE_DS' }],
    });
    expect(stale.evidence[0]).toMatchObject({ transport: 'database', ds: [`4660 8 2 ${'AB'.repeat(32)}`] });
    expect(stale.evidence[0]).not.toHaveProperty('address');
    expect(stale.evidence[0]).not.toHaveProperty('rtt_ms');
  });

  it('does not contain checks of another domain', async () => {
    const { id } = await freshDomain();
    const other = await freshDomain();
    const elsewhere = await api.ask('GET', `${other.path}/${await check(id, OURS)}`);
    expect([elsewhere.status, elsewhere.body.error]).toEqual([404, 'check not found']);
    expect((await api.ask('GET', `${other.path}/x`)).status).toBe(404);
  });
});

describe('the check of the domain’s own nameservers', () => {
  async function looked() {
    const fresh = await freshDomain();
    const checkId = await check(fresh.id, OURS);
    await noteCheckedDomains(api.database.db, [{ domainId: fresh.id, isByHand: false }]);
    const names = [parseName('ns1.example.net.')];
    const said = (code: ChildFinding['code'], place: ChildFinding['place']): ChildFinding => ({
      code,
      severity: 'error',
      place,
      message: `${code}.`,
      names,
    });
    await saveChildCheck(api.database.db, {
      domainId: fresh.id,
      wantedNs: OURS,
      evidence: madeChild(),
      findings: [
        said('TCP_REFUSED', 'zone'),
        said('TOO_FEW_NAMES', 'registrar'),
        said('OUR_SERVERS_UNREACHABLE', 'operator'),
      ],
      nextAt: Date.now(),
    });
    return { ...fresh, checkId };
  }

  it('is part of a single check, without errors of the fleet’s servers', async () => {
    const { path, checkId } = await looked();
    const { body } = await api.ask('GET', `${path}/${checkId}`, { as: 'viewer' });
    expect(body.child).toMatchObject({ complete: true, queries: 12, checked_at: expect.any(String) });
    const common = { severity: 'error', names: ['ns1.example.net'] };
    expect(body.child.findings).toEqual([
      { ...common, code: 'TCP_REFUSED', place: 'zone', message: 'TCP_REFUSED.' },
      { ...common, code: 'TOO_FEW_NAMES', place: 'registrar', message: 'TOO_FEW_NAMES.' },
    ]);
    expect(body.child.addresses[0]).toEqual({
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
    const list = await api.ask('GET', path);
    expect(list.body[0]).not.toHaveProperty('child');
  });

  it('is part of the domain if its owner can change it at the registrar', async () => {
    const { name } = await looked();
    const { body } = await api.ask('GET', `/domains/${name}`);
    expect(body.findings).toEqual([{ code: 'TOO_FEW_NAMES', message: 'TOO_FEW_NAMES.' }]);
  });
});
