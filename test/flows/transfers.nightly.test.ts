// Zones go to five other programs, which are secondaries: edits, loads, signing on and off. Every one of them has the
// same zone afterwards, and no differences are missing.

import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { disableSigning } from '../../src/store/signing/disable-signing.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { type CliRun, runCli } from '../support/cli/run-cli.ts';
import { asRole, createDatabase, type TestDatabase } from '../support/database/database.ts';
import { BY, newAccount, newDomain, saved } from '../support/database/domains.ts';
import { enabled, useSecrets } from '../support/database/signed-zones.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { linesOf, transferred } from '../support/peers/transfer-fleet.ts';
import {
  startTransferPeer,
  TRANSFER_PROGRAMS,
  type TransferKey,
  type TransferPeer,
  type TransferPeerName,
} from '../support/peers/transfer-peers.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const PEERS: readonly TransferPeerName[] = ['nsd', 'knot', 'bind', 'powerdns', 'yadifa'];
const missing = [...PEERS.map((name) => TRANSFER_PROGRAMS[name]), 'dig'].filter((each) => !isInstalled(each));
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const EDITS = scale(200, 40);
const OPERATOR = parseName('operator.test.');
const DOMAIN = parseName('example.com.');
const SECRETS = `one:${Buffer.alloc(32, 9).toString('base64')}`;
const LOOPBACK = '127.0.0.1';

describe.skipIf(needs !== '')(`transfers to other servers${needs}`, () => {
  let database: TestDatabase;
  let node: NodeProcess;
  let domainId: number;
  const peers: TransferPeer[] = [];

  const cli = async (...args: string[]): Promise<CliRun> => {
    const run = await runCli(args, { databaseUrl: database.url, env: { TSIG_SECRETS: SECRETS } });
    if (run.code !== 0) throw new Error(`zonefleet ${args.join(' ')}: ${run.stdout}${run.stderr}`);
    return run;
  };

  beforeAll(async () => {
    database = await createDatabase();
    const { db } = database;
    useSecrets(db);
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    await saveZones(db, [{ apex: OPERATOR, records: operatorZone(1, []) }], { source: 'test' });
    const started = await Promise.all(
      PEERS.map(async (name) => {
        const key: TransferKey = JSON.parse((await cli('tsig', 'create', name, '--json')).stdout);
        return { name, key, port: await freePort() };
      }),
    );
    for (const { name, key, port } of started) {
      const place = ['--to', `${LOOPBACK}:${port}`, '--from', `${LOOPBACK}/32`];
      await cli('peer', 'add', name, ...place, '--key', key.name);
    }
    await cli('peer', 'add', 'dig', '--from', `${LOOPBACK}/32`);
    await cli('policy', 'set', 'default', '--transfer', 'dig', ...PEERS, '--notify', ...PEERS);
    node = await startNode('transfers', {
      DATABASE_URL: asRole(database.url, 'zonefleet_node'),
      TSIG_SECRETS: SECRETS,
    });
    await until(
      async () => (await transferred(node.address.port, OPERATOR)).length > 0,
      'the node transfers zones',
    );
    const zones = [OPERATOR, DOMAIN].map((apex) => printName(apex).slice(0, -1));
    for (const { name, key, port } of started)
      peers.push(await startTransferPeer(name, { zones, primary: node.address.port, key, port }));
  });
  afterAll(async () => {
    await Promise.all([...peers, node].map((each) => each?.stop()));
    await database?.drop();
  });

  /** Waits until every peer has exactly the records of a zone. */
  async function untilEqual(apex: Name): Promise<void> {
    const wanted = await storedLines(apex);
    for (const { name, port } of [{ name: 'the node', port: node.address.port }, ...peers]) {
      let has: string[] = [];
      await until(
        async () => {
          has = await transferred(port, apex);
          return has.join('\n') === wanted.join('\n');
        },
        () => `${name} has ${printName(apex)}: ${difference(has, wanted)}`,
      );
    }
  }

  const storedLines = async (apex: Name) => linesOf((await loadZone(database.db, apex))?.records ?? []);

  it('equal zones after edits, loads, signing and unsigning, by differences unless they are larger than the zone', async () => {
    const { db } = database;
    // yadifa sometimes starts without its first transfer, also from other primaries.
    await cli('zone', 'notify', printName(OPERATOR), printName(DOMAIN));
    await untilEqual(OPERATOR);
    await untilEqual(DOMAIN);
    let serial = 1;
    let extra: string[] = [];
    for (let i = 1; i <= EDITS; i++) {
      const label = `h${randomInt(30)}`;
      const choice = randomInt(10);
      if (choice < 6)
        await saved(db, domainId, { replace: [[label, 'A', `${60 + i} A 198.51.100.${randomInt(250)}`]] });
      else if (choice < 9) {
        extra = [...extra.slice(-20), `x${i} TXT "${i}"`];
        await saveZones(db, [{ apex: OPERATOR, records: operatorZone(++serial, extra) }], { source: 'test' });
      } else if (choice === 9) {
        await enabled(db, { domainId }, { denial: randomInt(2) === 0 ? 'nsec' : 'nsec3' }).catch(
          () => undefined,
        );
        if (randomInt(2) === 0) await disableSigning(db, { domainId }, BY);
      }
      if (i % 10 !== 0) continue;
      await untilEqual(DOMAIN);
      await untilEqual(OPERATOR);
    }
    expect(await missesOf(node)).toEqual([]);
    const { code, stdout } = await cli('transfers', printName(DOMAIN));
    expect([code, stdout]).toEqual([0, expect.stringContaining('knot')]);
  });
});

function operatorZone(serial: number, more: readonly string[]) {
  const names = Array.from({ length: 50 }, (_, i) => `n${i} A 192.0.2.${i}`);
  const text = [
    `@ SOA ns1 host ${serial} 600 60 604800 60`,
    '@ NS ns1',
    'ns1 A 192.0.2.1',
    ...names,
    ...more,
  ];
  return recordsOf(text.join('\n'), printName(OPERATOR));
}

/** Returns how often the node could not answer with differences although history was kept. */
async function missesOf({ metricsUrl }: NodeProcess): Promise<string[]> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => /^zonefleet_history_misses_total\{why="(gap|purged|unavailable)"\} [1-9]/.test(line));
}

function difference(has: readonly string[], wanted: readonly string[]): string {
  const lacks = wanted.filter((line) => !has.includes(line)).slice(0, 5);
  const more = has.filter((line) => !wanted.includes(line)).slice(0, 5);
  return `lacks ${lacks.join(' | ')}; has ${more.join(' | ')}`;
}
