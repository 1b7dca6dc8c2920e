// A certificate for a domain whose DNS is elsewhere: its names are proved over HTTP at the edge, by pebble.

import { X509Certificate } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { Authority } from '../../../src/outbound/acme/authority.ts';
import { askForCertificate } from '../../../src/store/certificates/change-certificate.ts';
import { loadSsl } from '../../../src/store/certificates/load-ssl.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { loadEdgeSights } from '../../../src/store/edges/load-edge-sights.ts';
import { useKeyBoxes } from '../../../src/store/secrets/database-keys.ts';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import {
  type DatabaseDns,
  type Pebble,
  serveDatabase,
  startPebble,
} from '../../support/certificates/pebble.ts';
import { playOrders } from '../../support/certificates/play-orders.ts';
import { newDomain } from '../../support/database/domains.ts';
import { askEdge, type EdgePorts } from '../../support/edge/ask-edge.ts';
import { EdgeFleet, ORIGINS } from '../../support/edge/edge-fleet.ts';
import { startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx } from '../../support/edge/nginx/served-nginx.ts';
import { EdgeAgent } from '../../support/edge/proxy/edge-agent.ts';
import { startEdgeProxy } from '../../support/edge/proxy/edge-proxy.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { until } from '../../support/tests/until.ts';

const DOMAIN = 'elsewhere.example';
const HERE = `www.${DOMAIN}`;
const AWAY = `away.${DOMAIN}`;
const KEY_SECRETS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const TWO = 'two.example';
const NGINX = 'nginx.example';
const needsPebble = isInstalled('pebble') ? '' : ' (skipped: needs pebble)';

let fleet: EdgeFleet;
let dns: DatabaseDns;
let pebble: Pebble;
let domainId: number;

beforeAll(async () => {
  if (needsPebble !== '') return;
  fleet = await EdgeFleet.start({ env: { KEY_SECRETS } });
  const { db } = fleet.database;
  useKeyBoxes(db, new KeyBoxes(TEST_KEY_SECRETS));
  dns = await serveDatabase(db);
  pebble = await startPebble(dns.address, { httpPort: fleet.proxy.httpPort });
  domainId = await addExternal(DOMAIN, ['www', 'away', '*.shop']);
  await fleet.caughtUp(DOMAIN);
});
afterAll(async () => {
  await pebble?.stop();
  dns?.close();
  await fleet?.stop();
});

/** An active domain whose DNS is elsewhere, with proxied names. */
async function addExternal(domain: string, names: readonly string[]): Promise<number> {
  const { db } = fleet.database;
  const { account_id } = await db
    .selectFrom('domains')
    .select('account_id')
    .where('id', '=', fleet.domainId)
    .executeTakeFirstOrThrow();
  const { id } = await newDomain(db, account_id, `${domain}.`, { dnsMode: 'external' });
  await sql`update domains set status = 'active' where id = ${id}`.execute(db);
  for (const name of names) {
    const origin = { type: 'A', destination: fleet.own.address, port: fleet.own.port, scheme: 'Http' };
    const body = { name, ...origin, proxied: true };
    expect(await fleet.ask('POST', `/domains/${domain}/records/`, body)).toMatchObject({ status: 200 });
  }
  return id;
}

const NEEDLESS = {
  observeCaa: async () => ({ kind: 'none' as const }),
  observeTxt: () => Promise.reject(new Error('no TXT record is asked for')),
};

/** Every name leads to these addresses. */
const leadingTo = (...addresses: readonly string[]) => ({
  ...NEEDLESS,
  observeAddresses: async (target: string) => ({
    names: [target as never],
    v4: { kind: 'found' as const, addresses, ttl: 60 },
    v6: { kind: 'none' as const, ttl: 60 },
    queries: 1,
    startedAt: 0,
    finishedAt: 0,
  }),
});

/** What each of the edges answers to the authority's question, whenever the authority is told to look. */
function watching(ca: Pebble, edges: readonly EdgePorts[], said: string[][]) {
  return new (class extends Authority {
    override async answer(...given: Parameters<Authority['answer']>): Promise<void> {
      const [challenges] = given;
      for (const { host, token, value } of challenges) {
        const url = `http://${host}/.well-known/acme-challenge/${token}`;
        const answers = await Promise.all(edges.map((edge) => askEdge(edge, url)));
        said.push(answers.map(({ status, text }) => (text === value ? 'its answer' : `${status}`)));
      }
      await super.answer(...given);
    }
  })({ directory: ca.directory, roots: ca.roots });
}

let reported: string | undefined;

/** As an edge does that tells where it is as soon as that is elsewhere. */
async function reportNews(): Promise<void> {
  const { cursor } = fleet.proxy.configs;
  if (cursor === reported) return;
  expect((await fleet.edge.report(fleet.proxy.configs, [])).status).toBe(200);
  reported = cursor;
}

it.skipIf(needsPebble !== '')(
  `is issued for the names that lead to our edges, and its answers go again${needsPebble}`,
  async () => {
    const { db } = fleet.database;
    const answered: { hosts: string[]; told: boolean; atEdge: boolean }[] = [];
    class Watched extends Authority {
      override async answer(...given: Parameters<Authority['answer']>): Promise<void> {
        const [challenges] = given;
        const { http01 } = fleet.config(DOMAIN);
        answered.push({
          hosts: challenges.map(({ host }) => host),
          told: (await loadEdgeSights(db, domainId)).every(({ seen }) => seen === 'yes'),
          atEdge: challenges.every(({ token }) => http01.some((one) => one.token === token)),
        });
        await super.answer(...given);
      }
    }
    const found = (address: string) => ({ kind: 'found' as const, addresses: [address], ttl: 60 });
    const resolver = {
      ...NEEDLESS,
      observeAddresses: async (target: string) => ({
        names: [target as never],
        v4: found(printName(target as never) === `${HERE}.` ? '198.51.100.10' : '203.0.113.9'),
        v6: { kind: 'none' as const, ttl: 60 },
        queries: 1,
        startedAt: 0,
        finishedAt: 0,
      }),
    };
    const authority = new Watched({ directory: pebble.directory, roots: pebble.roots });
    expect(await askForCertificate(db, { domainId })).toEqual({ kind: 'changed' });
    const ended = await playOrders({ db, resolver, authority }, ['issued', 'failed'], reportNews);
    authority.close();
    expect(ended).toEqual({ kind: 'issued', domain: DOMAIN, names: [HERE] });
    expect(answered).toEqual([{ hosts: [HERE], told: true, atEdge: true }]);
    expect(fleet.proxy.seen.some(({ uri }) => uri.startsWith('/.well-known/acme-challenge/'))).toBe(true);

    await fleet.caughtUp(DOMAIN);
    const { http01, certificates } = fleet.config(DOMAIN);
    expect(http01).toEqual([]);
    expect(certificates).toMatchObject([{ names: [HERE] }]);
    const { certificate } = await fleet.edge.loadCertificate(certificates[0]?.id as number);
    expect(new X509Certificate(certificate).subjectAltName).toBe(`DNS:${HERE}`);
    const { body } = await fleet.ask('GET', `/domains/${DOMAIN}/ssl`);
    expect(body).toMatchObject({ status: 'issued', names: [HERE] });
    expect(body.findings).toEqual([
      { code: 'NOT_AT_EDGES', message: `${AWAY} does not lead to our edges: point it there, and ask again.` },
    ]);
  },
);

it.skipIf(needsPebble !== '')(
  `waits until each of the edges to which its name leads has the answer, however long one lags${needsPebble}`,
  async () => {
    const { db } = fleet.database;
    const id = await addExternal(TWO, ['www']);
    await fleet.caughtUp(TWO);
    const created = await createEdge(db, { name: 'edge2', region: 'eu', v4: ['198.51.100.20'], v6: [] });
    if (created.kind !== 'created') throw new Error(created.kind);
    const second = await startEdgeProxy();
    const agent = () => new EdgeAgent(() => fleet.api.url, created.token);
    const early = agent();
    early.follow(second.configs);
    await until(() => second.configs.of(TWO) !== undefined);
    await early.stop(); // from here on it is told nothing, and reports what it has
    const late = agent();
    let looks = 0;
    const steps = new Set<string>();
    const beside = async () => {
      await reportNews();
      await late.report(second.configs, []);
      const { rows } = await sql<{ step: string }>`
        update acme_orders set published_at = now() - interval '20 seconds', due_at = now()
        where domain_id = ${id} and step = 'published' returning step`.execute(db);
      if (rows.length > 0 && ++looks === 5) late.follow(second.configs);
      for (const { step } of rows) steps.add(`${step} ${looks < 5 ? 'while it lags' : 'and told'}`);
    };
    const said: string[][] = [];
    const authority = watching(pebble, [fleet.proxy, second], said);
    try {
      await askForCertificate(db, { domainId: id });
      const resolver = leadingTo('198.51.100.10', '198.51.100.20');
      const ended = await playOrders({ db, resolver, authority }, ['issued', 'failed'], beside);
      expect(ended).toMatchObject({ kind: 'issued', names: [`www.${TWO}`] });
      expect(said).toEqual([['its answer', 'its answer']]);
      expect([...steps]).toContain('published while it lags');
    } finally {
      authority.close();
      await late.stop();
      await second.stop();
      await sql`update edges set revoked_at = now() where name = 'edge2'`.execute(db);
    }
  },
);

it.skipIf(needsPebble !== '' || !hasNginx)(
  'is issued through nginx and its agent, which answer the authority and then serve it',
  async () => {
    const { db } = fleet.database;
    const id = await addExternal(NGINX, ['www']);
    const created = await createEdge(db, { name: 'nginx1', region: 'eu', v4: ['198.51.100.30'], v6: [] });
    if (created.kind !== 'created') throw new Error(created.kind);
    const { token } = created;
    const agent = await startAgent({ api: fleet.api.url, token, allowOrigins: [ORIGINS] });
    const own = await startPebble(dns.address, { httpPort: agent.httpPort });
    const said: string[][] = [];
    const authority = watching(own, [agent], said);
    try {
      await askForCertificate(db, { domainId: id });
      const resolver = leadingTo('198.51.100.30');
      const ended = await playOrders({ db, resolver, authority }, ['issued', 'failed'], reportNews);
      expect(ended).toMatchObject({ kind: 'issued', names: [`www.${NGINX}`] });
      expect(said).toEqual([['its answer']]);
      const { fingerprint } = (await loadSsl(db, [id])).get(id)?.certificate ?? {};
      await until(
        async () => (await fingerprintAt(agent, `www.${NGINX}`)) === fingerprint,
        () => `nginx serves the certificate; ${agent.log()}`,
      );
    } finally {
      authority.close();
      await own.stop();
      await agent.stop();
      await sql`update edges set revoked_at = now() where name = 'nginx1'`.execute(db);
    }
  },
);

/** The SHA-256 of what an edge shows for a name; undefined: no handshake. */
async function fingerprintAt(edge: EdgePorts, host: string): Promise<string | undefined> {
  const answer = await askEdge(edge, `https://${host}/`).catch(() => undefined);
  return answer?.certificate?.fingerprint256?.replaceAll(':', '').toLowerCase();
}

it.skipIf(needsPebble !== '')(
  'what the edges have been told is known from the place that they report, while they do',
  async () => {
    const { db } = fleet.database;
    const seen = async () => (await loadEdgeSights(db, domainId)).map((sight) => [sight.seen, sight.isHeard]);
    await until(async () => {
      await reportNews();
      return JSON.stringify(await seen()) === '[["yes",true]]';
    });
    const place = fleet.proxy.configs.cursor as string;
    const parts = JSON.parse(Buffer.from(place, 'base64url').toString());
    const [form, region, epoch, ...more] = parts;
    const elsewhere = [
      form,
      region,
      epoch.replace(/^./, (first: string) => (first === '0' ? '1' : '0')),
      ...more,
    ];
    const write = (cursor: string | null) => sql`update edges set config_cursor = ${cursor}`.execute(db);
    await write(Buffer.from(JSON.stringify(elsewhere)).toString('base64url')); // of before a restore
    expect(await seen()).toEqual([['no', true]]);
    await write('x');
    expect(await seen()).toEqual([['no', true]]);
    await write(null);
    expect(await seen()).toEqual([['untold', true]]);
    await write(place);
    await sql`update edges set seen_at = now() - interval '1 minute'`.execute(db);
    expect(await seen()).toEqual([['yes', false]]);
    await sql`update edges set revoked_at = now()`.execute(db);
    expect(await seen()).toEqual([]);
  },
);
