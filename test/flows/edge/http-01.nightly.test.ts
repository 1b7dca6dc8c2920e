import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { Authority } from '../../../src/features/certificates/client.ts';
import { type CertificateOutcome, createIssuer } from '../../../src/features/certificates/job-issue.ts';
import { requestCertificateFor } from '../../../src/features/certificates/sql.ts';
import { claimDueOrders } from '../../../src/features/certificates/sql-orders.ts';
import { loadSsl } from '../../../src/store/certificates/load-ssl.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import { serveDatabase, startPebble } from '../../support/certificates/pebble.ts';
import { newDomain } from '../../support/database/domains.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { ORIGINS, startEdgeFleet } from '../../support/edge/edge-fleet.ts';
import { startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx } from '../../support/edge/nginx/served-nginx.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { until } from '../../support/tests/until.ts';

// Processes certificate orders like the workers' queue, without the queue.

/** Repeats until an order has one of these outcomes, and returns it. `beside` runs between two attempts. */
async function playOrders(
  options: Omit<Parameters<typeof createIssuer>[0], 'onOutcome'>,
  ends: readonly CertificateOutcome['kind'][],
  beside: () => Promise<unknown> = () => Promise.resolve(),
): Promise<CertificateOutcome> {
  const { db } = options;
  const outcomes: CertificateOutcome[] = [];
  const job = createIssuer({ ...options, onOutcome: (outcome) => void outcomes.push(outcome) });
  const deadline = AbortSignal.timeout(120_000);
  for (;;) {
    if (deadline.aborted) throw new Error(`no end: ${JSON.stringify(outcomes.slice(-5))}`);
    const { rows } = await claimDueOrders(db, { limit: 1 });
    if (rows.length === 0) await pause(20);
    for (const { id } of rows) await job({ orderId: id }, { signal: deadline, again: false });
    await beside();
    const ended = outcomes.find(({ kind }) => ends.includes(kind));
    if (ended !== undefined) return ended;
  }
}

const DOMAIN = 'elsewhere.example';
const HERE = `www.${DOMAIN}`;
const AWAY = `away.${DOMAIN}`;
const KEY_SECRETS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** `HERE` resolves to the edge, every other name elsewhere. */
const resolver = {
  observeCaa: async () => ({ kind: 'none' as const }),
  observeTxt: () => Promise.reject(new Error('TXT records must not be queried')),
  observeAddresses: async (target: string) => {
    const address = printName(target as never) === `${HERE}.` ? '198.51.100.10' : '203.0.113.9';
    return {
      names: [target as never],
      v4: { kind: 'found' as const, addresses: [address], ttl: 60 },
      v6: { kind: 'none' as const, ttl: 60 },
      queries: 1,
      startedAt: 0,
      finishedAt: 0,
    };
  },
};

it.skipIf(!isInstalled('pebble') || !hasNginx)(
  'a certificate is issued for names that resolve to edges, which answer the challenges and then serve it',
  async () => {
    const fleet = await startEdgeFleet({ env: { KEY_SECRETS } });
    const { db } = fleet.database;
    useKeyBoxes(db, new KeyBoxes(TEST_KEY_SECRETS));
    const dns = await serveDatabase(db);
    const agent = await startAgent({ api: fleet.api.url, token: fleet.token, allowOrigins: [ORIGINS] });
    const pebble = await startPebble(dns.address, { httpPort: agent.httpPort });
    const answers: string[] = [];
    class Watched extends Authority {
      override async answer(...given: Parameters<Authority['answer']>): Promise<void> {
        const [challenges] = given;
        for (const { host, token, value } of challenges) {
          const url = `http://${host}/.well-known/acme-challenge/${token}`;
          const { status, text } = await askEdge(agent, url);
          answers.push(`${host} ${text === value ? 'its answer' : status}`);
        }
        await super.answer(...given);
      }
    }
    const authority = new Watched({ directory: pebble.directory, roots: pebble.roots });
    try {
      const { id: domainId } = await newDomain(db, fleet.accountId, `${DOMAIN}.`, { dnsMode: 'external' });
      await sql`update domains set status = 'active' where id = ${domainId}`.execute(db);
      for (const name of ['www', 'away', '*.shop']) {
        const { status } = await fleet.ask('POST', `/domains/${DOMAIN}/records/`, fleet.recordOf(name));
        expect(status).toBe(200);
      }
      expect(await requestCertificateFor(db, { domainId })).toEqual({ kind: 'changed' });
      const ended = await playOrders({ db, resolver, authority }, ['issued', 'failed']);
      expect(ended).toEqual({ kind: 'issued', domain: DOMAIN, names: [HERE] });
      expect(answers).toEqual([`${HERE} its answer`]);

      const { body } = await fleet.ask('GET', `/domains/${DOMAIN}/ssl`);
      expect(body).toMatchObject({ status: 'issued', names: [HERE] });
      expect(body.findings).toEqual([
        {
          code: 'NOT_AT_EDGES',
          message: `${AWAY} does not resolve to the edges: point it there, and try again.`,
        },
      ]);
      const { fingerprint } = (await loadSsl(db, [domainId])).get(domainId)?.certificate ?? {};
      await until(
        async () => {
          const answer = await askEdge(agent, `https://${HERE}/`).catch(() => undefined);
          return answer?.certificate?.fingerprint256?.replaceAll(':', '').toLowerCase() === fingerprint;
        },
        () => `nginx serves the certificate; ${agent.log()}`,
      );
    } finally {
      authority.close();
      await pebble.stop();
      await agent.stop();
      dns.close();
      await fleet.stop();
    }
  },
);
