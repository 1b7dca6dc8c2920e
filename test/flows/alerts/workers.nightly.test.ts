// Alerts about the workers fire if their faults are caused in a real process. Faults that take days are brought forward in the
// database; the process finds them in the usual way.

import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { addCheckCounts } from '../../../src/store/checks/breaker-store.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { orderMail } from '../../../src/store/people/mails.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { addVantage } from '../../../src/store/vantage/vantages.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { startSmtp, type TestSmtp } from '../../support/mail/smtp.ts';
import {
  FLEET_SETS,
  NEEDS_PARENT,
  type RealParent,
  startRealParent,
} from '../../support/peers/real-parent.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { startWorkers, type WorkersProcess } from '../../support/processes/workers-process.ts';
import { until } from '../../support/tests/until.ts';
import { NEEDS_PROMETHEUS, type Prometheus, startPrometheus } from '../../support/watching/prometheus.ts';
import { expectNoStacks } from '../../support/watching/stacks-in-warnings.ts';

const NEEDS = NEEDS_PARENT || NEEDS_PROMETHEUS;
const BY = { source: 'test', actor: 'me' } as const;
const OWNER = 'owner@example.org';
/** The key of another root. */
const WRONG_ANCHOR = `. IN DS 20326 8 2 ${'e0'.repeat(32)}\n`;

let prometheus: Prometheus;
let database: TestDatabase;
let parent: RealParent;
let smtp: TestSmtp;
/** An analytics store that accepts all statements except those that evaluate the uptime. */
let store: Server;
let owner: number;
const started: WorkersProcess[] = [];

beforeAll(async () => {
  if (NEEDS !== '') return;
  prometheus = await startPrometheus({ ZonefleetChecksOverdue: 600 });
  database = await createDatabase();
  const { db } = database;
  await migrate(db, {
    ...TEST_SETTINGS,
    nameserverSets: FLEET_SETS,
    nameserverPool: [['ns[1-4].missing.zz.'], ['ns[1-4].other.zz.']],
    nameserverAddresses: [['192.0.2.1'], ['198.51.100.1']],
  });
  // No nameserver listens at the addresses of the set.
  parent = await startRealParent({ shop: FLEET_SETS[0] });
  smtp = await startSmtp({ refuse: () => 550 });
  store = createServer(async (request, response) => {
    const query = await text(request);
    const fails = query.includes('FROM origins_minutely') && !query.includes('CREATE');
    response.writeHead(fails ? 500 : 200).end(fails ? 'Code: 999' : '');
  }).listen(0, '127.0.0.1');
  owner = await newAccount(db, OWNER);
  await start({ SMTP_URL: smtp.url, PUBLIC_URL: 'http://127.0.0.1:1' });
});

/** Stops the workers that run, and starts others, which Prometheus scrapes. */
async function start(env: Readonly<Record<string, string>>): Promise<void> {
  await started.at(-1)?.stop();
  const metrics = `127.0.0.1:${await freePort()}`;
  const process = await startWorkers(database.url, { ...parent.settings, METRICS_LISTEN: metrics, ...env });
  started.push(process);
  await prometheus.scrape('workers', `http://${metrics}`);
}

afterAll(async () => {
  await Promise.all(started.map((each) => each.stop()));
  await Promise.all([parent?.stop(), smtp?.stop(), prometheus?.stop()]);
  store?.close();
  await database?.drop();
});

/** Makes checks of all domains due, as of this many seconds ago. */
const checkAll = (lateSeconds = 0) =>
  sql`update domain_checks set due_at = now(), next_at = now() - make_interval(secs => ${lateSeconds})
    where next_at is not null`.execute(database.db);

const fire = (...alerts: string[]) =>
  Promise.all(alerts.map((alert) => prometheus.fires(alert, () => undefined)));

describe.skipIf(NEEDS !== '')(`alerts about the workers${NEEDS}`, () => {
  it('fire for nameservers that the workers cannot reach, and a pool whose names do not exist', async () => {
    const { db } = database;
    await newDomain(db, owner, 'shop.zz.');
    await checkAll();
    await Promise.all([
      fire('ZonefleetOwnServersUnreachable', 'ZonefleetPoolFaults'),
      prometheus.fires('ZonefleetWarning', () =>
        addVantage(db, { name: 'one', network: 'net', publicKey: 'one', address: null }),
      ),
    ]);
  });

  it('fire for edges, mails, copies and domains whose state is wrong', async () => {
    const { db } = database;
    const silent = async () => {
      for (const [name, address] of [
        ['one', '192.0.2.10'],
        ['two', '192.0.2.11'],
      ] as const)
        await createEdge(db, { name, region: 'eu', v4: [address], v6: [] });
      await sql`update edges set seen_at = clock_timestamp()`.execute(db);
      const published = async () =>
        (await sql<{ members: object }>`select members from edge_sets`.execute(db)).rows[0]?.members;
      await until(async () => JSON.stringify(await published()).includes('two'), 'the edges are published');
      await sql`update edges set seen_at = clock_timestamp() - interval '2 minutes'`.execute(db);
    };
    const copy = async () => {
      await saveZones(db, [smallZone('copy.example.', 1)], BY);
      const silentPrimary = {
        name: 'silent',
        addresses: ['127.0.0.1'],
        port: await freePort(),
        networks: [],
        keyId: null,
      };
      const peer = await addPeer(db, silentPrimary);
      await sql`insert into secondaries (zone_name, peers, serial, form, transferred_at, refreshed_at, expires_at)
        values ('copy.example.', array[${peer}::bigint], 1, 'axfr', now(), now(), now() + interval '1 day')`.execute(
        db,
      );
    };
    const expire = () => sql`update secondaries set expires_at = now(), due_at = now()`.execute(db);
    await Promise.all([
      prometheus.fires('ZonefleetEdgesSilent', silent),
      prometheus.fires('ZonefleetMailGivenUp', () => orderMail(db, 'reset', OWNER)),
      prometheus.fires('ZonefleetBreakerHeld', () =>
        addCheckCounts(db, [{ parent: 'zz.', checked: 50, turned: 40, off: 40 }]),
      ),
      prometheus.fires('ZonefleetPublishFaults', () =>
        sql`insert into zone_records (zone_id, owner, type, ttl, rdata, version)
          select id, name, ${TYPE.TXT}, 60, decode('0178', 'hex'), version from zones where name = 'shop.zz.'`.execute(
          db,
        ),
      ),
      prometheus
        .fires('ZonefleetCopiesFailing', copy)
        .then(() => prometheus.fires('ZonefleetCopiesExpired', expire)),
    ]);
  });

  it('fire for a database role without privileges, and for jobs that fail', async () => {
    const { db } = database;
    await prometheus.fires('ZonefleetCallsFailing', async () => {
      await sql`revoke update on domain_checks from zonefleet_worker`.execute(db);
      await prometheus.fires('ZonefleetChecksOverdue', () => checkAll(900));
    });
    await sql`grant update on domain_checks to zonefleet_worker`.execute(db);
    await prometheus.fires('ZonefleetDeadJobs', async () => {
      await sql`revoke insert on check_runs from zonefleet_worker`.execute(db);
      await sql`update domain_checks set last_outcome = null`.execute(db);
      await checkAll();
    });
    await sql`grant insert on check_runs to zonefleet_worker`.execute(db);
  });

  it('fire for an analytics store that does not respond, or whose queries fail', async () => {
    const { port } = store.address() as AddressInfo;
    await prometheus.fires('ZonefleetUptimeStopped', () =>
      start({ ANALYTICS_URL: `http://127.0.0.1:${port}/zf` }),
    );
    await prometheus.fires('ZonefleetAnalyticsDown', () => store.close().closeAllConnections());
  });

  it('fire for a root that does not validate, and for parents that do not respond', async () => {
    const anchors = join(tmpdir(), `zonefleet-anchors-${process.pid}`);
    writeFileSync(anchors, WRONG_ANCHOR);
    await prometheus.fires('ZonefleetRootFault', async () => {
      await start({ TRUST_ANCHORS: anchors });
      await newDomain(database.db, owner, 'other.zz.'); // the jobs of shop.zz are dead
      await checkAll();
    });
    await prometheus.fires('ZonefleetChecksUnknown', async () => {
      await start({ DNS_PORT_OUT: `${await freePort()}` });
      for (let checks = 0; checks < 5; checks++) {
        await checkAll();
        await pause(3000);
      }
    });
  });

  it('log warnings without stack traces', () => {
    expectNoStacks(started);
  });
});
