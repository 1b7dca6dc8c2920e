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
  // background checks run before they are due here
  await sql`update domain_checks set next_at = now() - interval '1 minute' where domain_id = ${domainId}`.execute(
    api.database.db,
  );
  const outcome = await makeCheck(api.database.db, { domainId, kind }, (domain) => evidenceOf(domain, said));
  if (outcome.kind !== 'saved') throw new Error(outcome.kind);
  return outcome.checkId;
}

const ids = (body: { id: number }[]) => body.map(({ id }) => id);

describe('the log of checks', () => {
  it('is empty for a domain that was not checked yet', async () => {
    const { path } = await freshDomain();
    expect(await api.ask('GET', path)).toMatchObject({ status: 200, body: [] });
  });

  it('has each run with its verdict, findings and statuses, newest first', async () => {
    const { id, path } = await freshDomain();
    const first = await check(id, ['ns1.example.net.', 'ns9.other.test.']);
    const second = await check(id, OURS, 'operator');
    const { status, body } = await api.ask('GET', path, { as: 'viewer' });
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        id: second,
        domain_id: id,
        kind: 'operator',
        started_at: expect.any(String),
        finished_at: expect.any(String),
        last_seen_at: body[0].finished_at,
        repeated: 0,
        verdict: 'match',
        findings: [],
        status_before: 'pending',
        status_after: 'active',
        current_ns: ['ns1.example.net', 'ns2.example.net'],
        matched_set: ['ns1.example.net', 'ns2.example.net'],
        parent: 'example',
        queries: 2,
        next_check_at: expect.any(String),
      },
      {
        id: first,
        domain_id: id,
        kind: 'manual',
        started_at: expect.any(String),
        finished_at: expect.any(String),
        last_seen_at: body[1].finished_at,
        repeated: 0,
        verdict: 'partial',
        findings: [
          {
            code: 'NS_MISSING',
            message: expect.stringContaining('ns2.example.net'),
            names: ['ns2.example.net'],
          },
          { code: 'NS_EXTRA', message: expect.any(String), names: ['ns9.other.test'] },
        ],
        status_before: 'pending',
        status_after: 'pending',
        current_ns: ['ns1.example.net', 'ns9.other.test'],
        parent: 'example',
        queries: 2,
        next_check_at: expect.any(String),
      },
    ]);
    for (const { started_at, finished_at } of body) {
      expect(Date.parse(finished_at)).toBeGreaterThanOrEqual(Date.parse(started_at));
      expect(Date.parse(finished_at)).toBeLessThanOrEqual(Date.now());
    }
  });

  it('counts what the service sees again on the run that saw it first', async () => {
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

  it('goes page by page, and from an id on', async () => {
    const { id, path } = await freshDomain();
    const made: number[] = [];
    for (let i = 0; i < 23; i++) made.unshift(await check(id, [`ns${i}.other.test.`]));
    expect(ids((await api.ask('GET', path)).body)).toEqual(made);
    const seen: number[] = [];
    let next: string | undefined = `${path}?limit=10`;
    while (next !== undefined) {
      const { body, headers } = await api.ask('GET', next);
      expect(body.length).toBeLessThanOrEqual(10);
      seen.push(...ids(body));
      next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
    }
    expect(seen).toEqual(made);
    expect(ids((await api.ask('GET', `${path}?after=${made[3]}`)).body)).toEqual(made.slice(0, 3));
    expect(ids((await api.ask('GET', `${path}?after=${made[3]}&limit=2`)).body)).toEqual(made.slice(0, 2));
    const oldest = await api.ask('GET', `${path}?sort=id&offset=1&limit=2&count=true`);
    expect([ids(oldest.body), oldest.headers['x-total-count']]).toEqual([
      [made[21], made[20]],
      String(made.length),
    ]);
    await check(id, 'nxdomain', 'background');
    const counted = await api.ask('GET', `${path}?verdict=UNREGISTERED&kind=background&count=true`);
    expect([counted.body.length, counted.headers['x-total-count']]).toEqual([1, '1']);
    const none = await api.ask('GET', `${path}?verdict=alias,match&kind=operator&count=true`);
    expect([none.body, none.headers['x-total-count']]).toEqual([[], '0']);
    for (const query of [
      'limit=0',
      'after=x',
      'cursor=x',
      'evidence=maybe',
      'kind=me',
      'verdict=good',
      'sort=kind',
    ]) {
      expect((await api.ask('GET', `${path}?${query}`)).body.code).toBe('validation_failed');
    }
  });

  it('has the newest one by a path of its own, with the way to the parent and the glue that its servers gave', async () => {
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

  it('has the evidence where it is asked for', async () => {
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

  it('says whether the parent is secure, and what its keys say of each reply', async () => {
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

  it('leaves out what a silent server did not say, and shows a DS as in a zone file', async () => {
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

  it('of a domain that leaves shows the status that it has', async () => {
    const { id, name, path } = await freshDomain();
    await check(id, OURS);
    await api.ask('PUT', `/domains/${name}`, { body: { dns_mode: 'external' } });
    await check(id, OURS, 'background');
    await check(id, ['ns1.other.test.'], 'background');
    const { body } = await api.ask('GET', path);
    expect(body.map((run: Record<string, unknown>) => [run.status_before, run.status_after])).toEqual([
      ['unverified', 'unverified'],
      ['unverified', 'unverified'],
      ['pending', 'active'],
    ]);
  });

  it('is shown to members of the domain only', async () => {
    const { id, path } = await freshDomain();
    const other = await freshDomain();
    const run = await check(id, OURS);
    for (const url of [path, `${path}/${run}`]) {
      expect((await api.ask('GET', url, { as: 'stranger' })).status).toBe(404);
      expect((await api.ask('GET', url, { as: 'operator' })).status).toBe(200);
    }
    const elsewhere = await api.ask('GET', `${other.path}/${run}`);
    expect([elsewhere.status, elsewhere.body.error]).toEqual([404, 'check not found']);
    expect((await api.ask('GET', `${path}/x`)).status).toBe(404);
  });
});

describe('the look at the domain’s own nameservers', () => {
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

  it('is in a single check, with severities, without what is wrong with our own servers', async () => {
    const { path, checkId } = await looked();
    const { body } = await api.ask('GET', `${path}/${checkId}`, { as: 'viewer' });
    expect(body.child).toMatchObject({ complete: true, queries: 12, checked_at: expect.any(String) });
    expect(body.child.findings).toEqual([
      {
        code: 'TCP_REFUSED',
        severity: 'error',
        place: 'zone',
        message: 'TCP_REFUSED.',
        names: ['ns1.example.net'],
      },
      {
        code: 'TOO_FEW_NAMES',
        severity: 'error',
        place: 'registrar',
        message: 'TOO_FEW_NAMES.',
        names: ['ns1.example.net'],
      },
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

  it('is in the domain only as far as its owner can change it at the registrar', async () => {
    const { name } = await looked();
    const { body } = await api.ask('GET', `/domains/${name}`);
    expect(body.findings).toEqual([{ code: 'TOO_FEW_NAMES', message: 'TOO_FEW_NAMES.' }]);
  });
});
