import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { judgeCertificate } from '../../../src/edge/certificates/judge-certificate.ts';
import type { Authority } from '../../../src/features/certificates/client.ts';
import { CaFault } from '../../../src/features/certificates/client-answers.ts';
import { type CertificateOutcome, createIssuer } from '../../../src/features/certificates/job-issue.ts';
import { requestCertificateFor } from '../../../src/features/certificates/sql.ts';
import { endOrder } from '../../../src/features/certificates/sql-challenges.ts';
import { loadOrder } from '../../../src/features/certificates/sql-orders.ts';
import { loadSsl } from '../../../src/store/certificates/load-ssl.ts';
import { encodeEdgeCursor } from '../../../src/store/edges/edge-cursor.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { readEdgeFeed } from '../../../src/store/edges/read-edge-feed.ts';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { loadAnswerSettings, saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { NO_EDIT } from '../../../src/zone/edit/edit.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { type SaidTxt, txtEvidenceOf } from '../../support/world/made-verifications.ts';

const DIRECTORY = 'https://ca.test/dir';
const DAY_MS = 86_400_000;

const { db, query, value } = sharedDatabase();
let accountId: number;
/** Calls of the authority, in order. */
let asked: string[];
let answers: Partial<Authority>;
/** The nameservers' answers for `_acme-challenge`. */
let servers: readonly SaidTxt[];
/** Addresses of the names. */
let addresses: readonly string[];
beforeEach(async () => {
  useKeyBoxes(db, new KeyBoxes(TEST_KEY_SECRETS));
  accountId = await newAccount(db, 'me@example.org');
  asked = [];
  answers = {};
  servers = [];
  addresses = ['198.51.100.10'];
});

const challengesFor = (type: 'dns-01' | 'http-01', hosts: readonly string[]) =>
  hosts.map((host, i) => ({ url: `https://ca.test/${i}`, type, host, token: `t${i}`, value: `v${i}` }));
const sayingAuthority = () =>
  ({
    directory: DIRECTORY,
    use: async () => 'https://ca.test/account/1',
    caaIdentities: async () => [],
    order: async (names: readonly string[], replaces?: string) => {
      asked.push(replaces === undefined ? 'order' : 'order in place of another');
      return { url: 'https://ca.test/order/1', status: 'pending', names, error: undefined };
    },
    challenges: async (_url: string, type: 'dns-01' | 'http-01') => {
      const hosts = type === 'dns-01' ? ['example.com', 'example.com'] : ['www.example.com'];
      return challengesFor(type, hosts);
    },
    answer: async () => void asked.push('answer'),
    look: async () => ({ url: 'https://ca.test/order/1', status: 'pending', names: [], error: undefined }),
    renewal: async () => undefined,
    forget: () => {},
    ...answers,
  }) as unknown as Authority;

async function makeDomain(dnsMode: 'managed' | 'external' = 'managed'): Promise<number> {
  const { id } = await newDomain(db, accountId, 'example.com.', { dnsMode });
  await query`update domains set status = 'active' where id = ${id}`;
  return id;
}

const orderId = async () => (await query<{ id: number }>`select id from acme_orders`)[0]?.id as number;
const order = async () =>
  (await loadOrder(db, await orderId())) as NonNullable<Awaited<ReturnType<typeof loadOrder>>>;

/** Runs the job once. */
async function runJob(): Promise<CertificateOutcome> {
  const outcomes: CertificateOutcome[] = [];
  const job = createIssuer({
    db,
    resolver: {
      observeTxt: async (host) => txtEvidenceOf(host, { servers }),
      observeCaa: async () => ({ kind: 'none' }),
      observeAddresses: async (name) => ({
        names: [name],
        v4: { kind: 'found', addresses, ttl: 60 },
        v6: { kind: 'none', ttl: 60 },
        queries: 1,
        startedAt: 0,
        finishedAt: 0,
      }),
    },
    authority: sayingAuthority(),
    onOutcome: (outcome) => void outcomes.push(outcome),
    random: () => 0.5,
  });
  await job({ orderId: await orderId() }, { signal: new AbortController().signal, again: false });
  return outcomes[0] as CertificateOutcome;
}

async function expectFailed(error: string | RegExp): Promise<void> {
  const outcome = await runJob();
  expect(outcome.kind).toBe('failed');
  expect((outcome as { error: string }).error).toMatch(error);
}

const challengeRecords = async () => await query`select from records where managed and type = 'TXT'`;

const publishedAgo = (seconds: number) =>
  query`update acme_orders set published_at = now() - make_interval(secs => ${seconds}::float8)`;

describe('a managed zone', () => {
  it.each([
    ['CHALLENGE_CNAME', '_acme-challenge.example.com has a CNAME', ['_acme-challenge CNAME elsewhere.test']],
    ['CHALLENGE_DNAME', 'example.com has a DNAME', ['@ DNAME elsewhere.test']],
    ['CHALLENGE_NS', '_acme-challenge.example.com has NS', ['_acme-challenge NS ns.elsewhere.test']],
    [
      'CHALLENGE_NS',
      '_acme-challenge.shop.example.com has NS',
      ['_acme-challenge.shop NS ns.elsewhere.test', 'www.shop A 192.0.2.1 ; proxied'],
    ],
  ])('reports %s if %s, and leaves nothing behind', async (code, said, lines) => {
    const domainId = await makeDomain();
    await saved(db, domainId, lines);
    const host = said.split(' ')[0]?.replace('_acme-challenge.', '') as string;
    answers = { challenges: async () => challengesFor('dns-01', ['example.com', host]) };
    await requestCertificateFor(db, { domainId });
    await expectFailed(said.slice(said.indexOf('has ')));
    expect((await loadSsl(db, [domainId])).get(domainId)?.order).toMatchObject({
      isFailed: true,
      findings: [{ code, message: expect.stringMatching(new RegExp(`^${said}`)) }],
    });
    expect([asked, await challengeRecords()]).toEqual([['order'], []]);
  });

  it('fails if the authority requires proof of a name that was not ordered', async () => {
    const domainId = await makeDomain();
    const hosts = 'sub.example.com example.net *.example.com com ..'.split(' ');
    for (const host of [...hosts, `${'a.'.repeat(200)}example.com`]) {
      answers = { challenges: async () => challengesFor('dns-01', [host]) };
      await requestCertificateFor(db, { domainId });
      await expectFailed(/which was not ordered/);
      await query`update acme_orders set attempts = 0, due_at = now()`;
    }
    expect([await challengeRecords(), asked.includes('answer')]).toEqual([[], false]);
  });

  it('with lagging nodes is queried itself after a minute, and the authority continues when all servers answer', async () => {
    await query`
      insert into nodes (name, instance, started_at, seen_at, loaded, epoch, snapshot, zones, records, held_zones, unserved)
      select 'n1', gen_random_uuid(), now(), now(), true, ${sql.raw(EPOCH_SQL)}, pg_current_snapshot(), 0, 0, 0, '{}'
      from feed`;
    const domainId = await makeDomain();
    await requestCertificateFor(db, { domainId });
    const both = ['v0', 'v1'];
    servers = [both, both];
    expect(await runJob()).toEqual({ kind: 'waiting' });
    await publishedAgo(55);
    expect(await runJob()).toEqual({ kind: 'waiting' });
    await publishedAgo(61);
    for (const said of [[both, ['v0']], [both, 'nxdomain'], ['timeout', 'timeout'], []] as const) {
      servers = said;
      expect(await runJob()).toEqual({ kind: 'waiting' });
    }
    expect(asked).toEqual(['order']);
    servers = [both, 'timeout', ['v1', 'of another', 'v0']];
    expect(await runJob()).toEqual({ kind: 'waiting' }); // for the authority now
    expect([asked, (await order()).step]).toEqual([['order', 'answer'], 'answered']);
  });

  it('is polled less and less often if the authority is slow', async () => {
    await requestCertificateFor(db, { domainId: await makeDomain() });
    await runJob();
    const dueIn = async (begunSecondsAgo: number) => {
      await query`update acme_orders set step = 'answered',
        begun_at = now() - make_interval(secs => ${begunSecondsAgo}::float8)`;
      await runJob();
      return await value<number>`
        select round(extract(epoch from due_at - clock_timestamp()))::integer as seconds from acme_orders`;
    };
    expect(await dueIn(1)).toBeLessThanOrEqual(2);
    expect(await dueIn(1200)).toBeGreaterThan(50);
    expect(await dueIn(80_000)).toBeGreaterThan(250);
    expect(await dueIn(80_000)).toBeLessThanOrEqual(300);
  });

  it('fails after an hour if its servers never show the challenge', async () => {
    const domainId = await makeDomain();
    await requestCertificateFor(db, { domainId });
    servers = ['nxdomain'];
    expect(await runJob()).toEqual({ kind: 'waiting' });
    await publishedAgo(3601);
    await expectFailed(/not seen on all nameservers/);
    expect(asked).toEqual(['order']);
  });
});

describe('a domain in external mode', () => {
  let domainId: number;
  beforeEach(async () => {
    domainId = await makeDomain('external');
    const rdata = Buffer.from([192, 0, 2, 1]);
    const name = parseName('www.example.com.');
    await saved(db, domainId, { ...NO_EDIT, creates: [{ name, type: 'A', rdata, proxied: true }] });
    await addEdge('edge1', '198.51.100.10');
  });

  const addEdge = async (name: string, address: string) => {
    await createEdge(db, { name, region: 'eu', v4: [address], v6: [] });
    await query`update edges set seen_at = now() where name = ${name}`;
  };
  /** An edge's position in the feed: before all changes, or after them. */
  const report = async (name: string, isBehind: boolean) => {
    const { place } = await readEdgeFeed(db, undefined, 1);
    const at = isBehind ? { ...place, from: 3n, inFlight: [] } : place;
    const cursor = encodeEdgeCursor({ region: 'eu', place: at, after: undefined });
    await query`update edges set config_cursor = ${cursor} where name = ${name}`;
  };
  const begin = async () => {
    await requestCertificateFor(db, { domainId });
    expect(await runJob()).toEqual({ kind: 'waiting' });
  };
  /** Adds a second edge, which has not applied the change that the first one has. */
  const beginWithLaggingEdge = async () => {
    await addEdge('edge2', '198.51.100.11');
    await begin();
    await report('edge1', false);
    await report('edge2', true);
  };
  const isAnswered = async (afterSeconds: number) => {
    await publishedAgo(afterSeconds);
    await runJob();
    return asked.includes('answer');
  };

  it('waits 15 seconds for edges that do not report their position in the feed', async () => {
    await begin();
    expect(await isAnswered(10)).toBe(false);
    expect([asked, (await order()).step]).toEqual([['order'], 'published']);
    expect(await isAnswered(16)).toBe(true);
    expect([asked, (await order()).step]).toEqual([['order', 'answer'], 'answered']);
  });

  it('waits for every edge that its name points to', async () => {
    addresses = ['198.51.100.10', '198.51.100.11'];
    await beginWithLaggingEdge();
    expect(await isAnswered(3000)).toBe(false);
    await report('edge2', false);
    expect(await isAnswered(0)).toBe(true);
  });

  it('fails after an hour if its edges never have the challenge responses', async () => {
    await begin();
    await report('edge1', true);
    expect(await isAnswered(3500)).toBe(false);
    await publishedAgo(3601);
    await expectFailed(/did not reach all edges/);
    expect(await query`select from acme_answers`).toEqual([]);
  });

  it('waits 15 seconds for edges that no name points to, and does not wait for those of other regions', async () => {
    await beginWithLaggingEdge();
    expect(await isAnswered(10)).toBe(false);
    expect(await isAnswered(16)).toBe(true);
    asked = [];
    await query`update acme_orders set step = 'published'`;
    await query`update edges set region = 'us' where name = 'edge2'`;
    await query`update domains set edge_regions = '{eu}'`;
    await report('edge1', false);
    expect(await isAnswered(0)).toBe(true);
  });

  it('waits ten minutes for an offline edge that its name points to', async () => {
    addresses = ['198.51.100.10', '198.51.100.11'];
    await beginWithLaggingEdge();
    await query`update edges set seen_at = now() - interval '1 day' where name = 'edge2'`;
    expect(await isAnswered(590)).toBe(false);
    expect(await isAnswered(601)).toBe(true);
  });

  it('waits for all edges if its name points to an address that is not a single edge’s', async () => {
    const settings = (await loadAnswerSettings(db)) as NonNullable<
      Awaited<ReturnType<typeof loadAnswerSettings>>
    >;
    await inTransaction(db, (trx) => saveAnswerSettings(trx, { ...settings, edgeIpv4: ['203.0.113.1'] }));
    addresses = ['203.0.113.1'];
    await beginWithLaggingEdge();
    expect(await isAnswered(3000)).toBe(false);
    await report('edge2', false);
    expect(await isAnswered(0)).toBe(true);
  });

  it('is not ordered for names that also point elsewhere, or to edges of other regions', async () => {
    addresses = ['198.51.100.10', '192.0.2.77'];
    await requestCertificateFor(db, { domainId });
    await expectFailed('also resolves to 192.0.2.77');
    addresses = ['198.51.100.10'];
    await query`update domains set edge_regions = '{us}'`;
    await query`update acme_orders set attempts = 0`;
    await expectFailed('does not resolve to the edges');
    const told = (await loadSsl(db, [domainId])).get(domainId)?.order?.findings;
    expect([told?.map(({ code }) => code), asked]).toEqual([['NOT_AT_EDGES'], []]);
  });
});

describe('an issued certificate', () => {
  let domainId: number;
  beforeEach(async () => {
    domainId = await makeDomain();
    await requestCertificateFor(db, { domainId });
    const { pem, key } = await makeCertificate({ names: ['example.com', '*.example.com'] });
    const certificate = { certificate: pem, privateKey: key, domain: 'example.com' };
    const judgement = judgeCertificate({ ...certificate, now: new Date(), roots: undefined });
    if (judgement.kind === 'refused') throw new Error(JSON.stringify(judgement.problems));
    const renewAt = new Date(Date.now() + 60 * DAY_MS);
    await endOrder(db, await order(), { issued: judgement.judged, findings: [], dueInMs: 0, renewAt });
  });

  const window = (fromDays: number, toDays: number) => ({
    start: new Date(Date.now() + fromDays * DAY_MS),
    end: new Date(Date.now() + toDays * DAY_MS),
  });

  it('is renewed within the window of the authority, and the order names the certificate that it replaces', async () => {
    const suggested = window(3, 5);
    answers = { renewal: async () => ({ window: suggested, retryAfterMs: 7_200_000 }) };
    expect(await runJob()).toEqual({ kind: 'resting' });
    const { renewAt, renewalLookAt, at } = await order();
    expect(renewAt).toEqual(new Date((suggested.start.getTime() + suggested.end.getTime()) / 2));
    expect(Math.round(((renewalLookAt?.getTime() ?? 0) - at.getTime()) / 60_000)).toBe(120);
    await query`update acme_orders set renew_at = now()`;
    await runJob();
    expect(asked).toEqual(['order in place of another']);
  });

  it('is renewed immediately if the window has passed, as after a revocation', async () => {
    answers = { renewal: async () => ({ window: window(-2, -1), retryAfterMs: undefined }) };
    expect(await runJob()).toEqual({ kind: 'resting' });
    await runJob();
    expect(asked).toEqual(['order in place of another']);
  });

  it('keeps its chosen renewal time while the authority cannot suggest another', async () => {
    const before = (await order()).renewAt;
    for (const kind of ['refused', 'busy'] as const) {
      answers = {
        renewal: () => Promise.reject(new CaFault(kind, 'no', { status: kind === 'busy' ? 503 : 404 })),
      };
      await query`update acme_orders set renewal_look_at = null`;
      expect(await runJob()).toEqual({ kind: 'resting' });
      const { renewAt, attempts, renewalLookAt, at } = await order();
      expect([renewAt, attempts]).toEqual([before, 0]);
      expect((renewalLookAt?.getTime() ?? 0) - at.getTime()).toBeGreaterThan(3_600_000);
    }
    expect(asked).toEqual([]);
  });

  it('that was already replaced is ordered without naming it', async () => {
    const names: (string | undefined)[] = [];
    answers = {
      order: async (of: readonly string[], replaces?: string) => {
        names.push(replaces === undefined ? undefined : 'replaces');
        if (replaces !== undefined)
          throw new CaFault('refused', 'replaced', { type: 'alreadyReplaced', status: 409 });
        return { url: 'https://ca.test/order/2', status: 'pending' as const, names: of, error: undefined };
      },
    };
    await query`update acme_orders set renew_at = now()`;
    await runJob();
    expect(names).toEqual(['replaces', undefined]);
    expect((await order()).orderUrl).toBe('https://ca.test/order/2');
  });
});
