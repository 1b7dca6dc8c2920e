// Alerts about DNSSEC fire if their faults are caused in a real process. Signatures are made older in the database; the process
// finds them in the usual way.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { enabled, SIGNING_SECRETS, useSecrets } from '../../support/database/signed-zones.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { startWorkers, type WorkersProcess } from '../../support/processes/workers-process.ts';
import { NEEDS_PROMETHEUS, type Prometheus, startPrometheus } from '../../support/watching/prometheus.ts';

const BY = { source: 'test', actor: 'me' } as const;
const DAY = 86_400;
const BUG = `--import=${new URL('../../support/watching/wrong-signatures.mjs', import.meta.url)}`;
const KEY_SECRETS = SIGNING_SECRETS.map(({ name, secret }) => `${name}:${secret.toString('base64')}`).join();

let prometheus: Prometheus;
let database: TestDatabase;
let workers: WorkersProcess;

beforeAll(async () => {
  if (NEEDS_PROMETHEUS !== '') return;
  prometheus = await startPrometheus();
  database = await createDatabase();
  const { db } = database;
  useSecrets(db);
  const owner = await newAccount(db, 'owner@example.org');
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const { id } = await newDomain(db, owner, `${name}.example.net.`);
    await enabled(db, { domainId: id });
  }
  workers = await start();
});

afterAll(async () => {
  await workers?.stop();
  await prometheus?.stop();
  await database?.drop();
});

/** Starts workers that Prometheus scrapes instead of those before. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<WorkersProcess> {
  const metrics = `127.0.0.1:${await freePort()}`;
  const process = await startWorkers(database.url, {
    KEY_SECRETS,
    METRICS_LISTEN: metrics,
    TRUST_ANCHORS: 'off',
    PUBLIC_RESOLVERS: 'off',
    ...env,
  });
  await prometheus.scrape('workers', `http://${metrics}`);
  return process;
}

/** Makes all signatures of signed zones whose names match the pattern expire after these days, so that they are due. */
async function expireIn(days: number, names: string): Promise<void> {
  const expiration = sql`clock_timestamp() + make_interval(days => ${days})`;
  await sql`
    update zone_records r set rdata = overlay(rdata placing int4send(extract(epoch from ${expiration})::int) from 9 for 4)
    from zones z where z.id = r.zone_id and z.name like ${names} and r.type = ${TYPE.RRSIG}`.execute(
    database.db,
  );
  await sql`
    update signed_zones s set expires_at = ${expiration}, resign_at = clock_timestamp(), leased_until = null
    from domains d where d.id = s.domain_id and d.name like ${names}`.execute(database.db);
}

describe.skipIf(NEEDS_PROMETHEUS !== '')(`alerts about DNSSEC${NEEDS_PROMETHEUS}`, () => {
  it('fire for loaded signatures that expire soon, and for wrong signatures', async () => {
    const { db } = database;
    const now = Math.floor(Date.now() / 1000);
    const { apex, records } = smallZone('loaded.example.', 1);
    const time = { inception: now - DAY, expiration: now + 2 * DAY };
    const signed = signRecords(apex, records, { key: makeKey(13), time, denial: { kind: 'nsec' } });
    await prometheus.fires('ZonefleetLoadedSignaturesExpiring', () =>
      saveZones(db, [{ apex, records: signed }], BY),
    );
    await prometheus.fires('ZonefleetSignaturesWrong', () =>
      sql`update zone_records r set rdata = set_byte(r.rdata, octet_length(r.rdata) - 1,
          get_byte(r.rdata, octet_length(r.rdata) - 1) # 1)
        from zones z where z.id = r.zone_id and z.name = 'e.example.net.' and r.type = ${TYPE.RRSIG}`.execute(
        db,
      ),
    );
  });

  it('fire for signatures that are not renewed, until they expire', async () => {
    await sql`
      update signing_keys k set sealed = decode('00', 'hex') from signed_zones s join domains d on d.id = s.domain_id
      where s.id = k.signed_zone_id and d.name = 'a.example.net.'`.execute(database.db);
    await prometheus.fires('ZonefleetSigningFailing', () =>
      prometheus.fires('ZonefleetSignaturesOld', () => expireIn(6, 'a.%')),
    );
    await prometheus.fires('ZonefleetSignaturesExpiring', () => expireIn(3, 'a.%'));
  });

  it('fire for workers that make wrong signatures', async () => {
    await workers.stop();
    await prometheus.fires('ZonefleetSigningStopped', async () => {
      await expireIn(6, '_.example.net.');
      workers = await start({ NODE_OPTIONS: BUG });
    });
  });
});
