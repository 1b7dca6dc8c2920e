// The fleet consumes the catalogs of Knot and PowerDNS.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import {
  confirmVersion,
  consumeCatalog,
  loadConsumers,
} from '../../../src/features/catalogs/sql-consumers.ts';
import { WITHOUT_TLS } from '../../../src/store/transfers/peer-tls.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { isPrivateMark } from '../../../src/zone/zone.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import {
  CATALOG,
  type CatalogProducer,
  PRODUCER_PROGRAMS,
  type ProducerName,
  startKnotProducer,
  startPowerDnsProducer,
} from '../../support/peers/catalog-producers.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { dig, TransferFleet } from '../../support/peers/transfer-fleet.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';

const CREATED = scale(1000, 400);
const DELETED = (3 * CREATED) / 10;
const RECREATED = CREATED / 20;

describe.each<ProducerName>(['knot', 'powerdns'])('a catalog of %s', (program) => {
  const missing = PRODUCER_PROGRAMS[program].filter((each) => !isInstalled(each));
  const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;
  let fleet: TransferFleet;
  let producer: CatalogProducer;

  beforeAll(async () => {
    if (needs !== '') return;
    fleet = await TransferFleet.create();
    const key = program === 'knot' ? await fleet.addPeer('hidden', { isPrimary: true }) : undefined;
    const port = key?.port ?? (await freePort());
    if (key === undefined)
      await addPeer(fleet.db, {
        ...{ name: 'hidden', addresses: ['127.0.0.1'], port, networks: [], keyId: null, tls: WITHOUT_TLS },
      });
    const consume = { from: ['hidden'], policies: {}, maxMembers: undefined };
    expect(await consumeCatalog(fleet.db, { name: `${CATALOG}.`, ...consume })).toEqual({ kind: 'added' });
    await fleet.startNodes(1);
    const notified = fleet.nodes[0]!.address.port;
    producer =
      key === undefined
        ? await startPowerDnsProducer({ port, notified })
        : await startKnotProducer({ port, notified, key: key.key });
    await fleet.startWorkers();
  });
  afterAll(async () => {
    await producer?.stop();
    await fleet?.stop();
  });

  /** Returns the contents of the copied zones. */
  async function copied(): Promise<Map<string, string>> {
    const { rows } = await sql<{ zone: string; content: string }>`
      select rtrim(z.name, '.') as zone, convert_from(substr(r.rdata, 2), 'UTF8') as content
      from secondaries s join zones z on z.name = s.zone_name and z.deleted_at is null
        join zone_records r on r.zone_id = z.id and r.owner = 'content.' || z.name and not r.removed
      where s.catalog_id is not null`.execute(fleet.db);
    return new Map(rows.map(({ zone, content }) => [zone, content]));
  }

  async function untilCopied(wanted: ReadonlyMap<string, string>) {
    let has = new Map<string, string>();
    await until(
      async () => {
        has = await copied();
        return has.size === wanted.size && [...wanted].every(([zone, content]) => has.get(zone) === content);
      },
      () => {
        const wrong = [...wanted].filter(([zone, content]) => has.get(zone) !== content);
        return `${has.size} of ${wanted.size} zones, ${wrong.length} are wrong: ${wrong.slice(0, 3)}`;
      },
    );
  }

  const state = async () => (await loadConsumers(fleet.db))[0];

  it.skipIf(needs !== '')(`leads to the same zones with the same content${needs}`, async () => {
    const zones = new Map(Array.from({ length: CREATED }, (_, i) => [`m${i}.example`, 'first']));
    await producer.setZones(zones);
    await untilCopied(zones);
    const port = fleet.nodes[0]!.address.port;
    expect(await dig(port, '+short', 'content.m7.example', 'TXT')).toBe('"first"\n');
    expect(await dig(port, `version.${CATALOG}`, 'TXT')).toContain('status: REFUSED');
    const apex = parseName(`${CATALOG}.`);
    expect((await loadZone(fleet.db, apex))?.records.some((each) => isPrivateMark(each, apex))).toBe(true);

    for (let i = 0; i < DELETED; i++) zones.delete(`m${i}.example`);
    await producer.setZones(zones);
    await untilCopied(zones);
    await until(async () => (await dig(port, 'content.m0.example', 'TXT')).includes('status: REFUSED'));

    // The serials of the members stay, so only the labels say that the zones are others.
    const again = [...zones.keys()].slice(0, RECREATED);
    await producer.setZones(new Map([...zones].filter(([zone]) => !again.includes(zone))));
    for (const zone of again) zones.set(zone, 'second');
    await new Promise((done) => setTimeout(done, 1100)); // Knot derives labels from the second of the addition
    await producer.setZones(zones);
    await untilCopied(zones);
    expect(await state()).toMatchObject({ state: 'current', members: zones.size, findings: [] });

    await newDomain(fleet.db, await newAccount(fleet.db, 'ann@shop.test'), 'customer.example.');
    const wanted = new Map(zones);
    zones
      .set('customer.example', 'stolen')
      .set('www.customer.example', 'stolen')
      .set('next.example', 'first');
    wanted.set('next.example', 'first');
    await producer.setZones(zones);
    await untilCopied(wanted);
    await until(async () => (await state())?.state === 'partial');
    expect((await state())?.findings).toMatchObject([
      {
        code: 'CATALOG_NAME_TAKEN',
        names: [
          "customer.example. is a customer's domain",
          "www.customer.example. is below the customer's domain customer.example.",
        ],
      },
    ]);

    await producer.setZones(new Map());
    await until(async () => (await state())?.state === 'held');
    expect((await copied()).size).toBe(wanted.size);
    expect(await confirmVersion(fleet.db, `${CATALOG}.`)).toBe('confirmed');
    await untilCopied(new Map());
  });
});
