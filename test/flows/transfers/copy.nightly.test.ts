// Zones are copied from other servers to two nodes, and from these to a secondary.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { CLASS } from '../../../src/dns/type-codes.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import {
  dig,
  type FleetPeer,
  TransferFleet,
  transferred,
  UNSIGNED,
  zoneText,
} from '../../support/peers/transfer-fleet.ts';
import { TRANSFER_PROGRAMS, type TransferPeer } from '../../support/peers/transfer-peers.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';
import { misbehave } from '../../support/world/misbehaving-server.ts';
import { replyTo } from '../../support/world/world-server.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const PRIMARIES = ['nsd', 'knot', 'bind', 'powerdns'] as const;
const missing = [...PRIMARIES.map((name) => TRANSFER_PROGRAMS[name]), 'dig'].filter(
  (each) => !isInstalled(each),
);
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const MANY = scale(10_000, 1000);

describe.skipIf(needs !== '')(`copies of zones${needs}`, () => {
  let fleet: TransferFleet;
  let second: FleetPeer;
  const servers = new Map<string, TransferPeer>();
  const serverOf = (name: (typeof PRIMARIES)[number]) => servers.get(name) as TransferPeer;

  beforeAll(async () => {
    fleet = await TransferFleet.create();
    second = await fleet.addPeer('second');
    await fleet.setPolicy(second);
    const peers: FleetPeer[] = [];
    for (const name of PRIMARIES) {
      const peer = await fleet.addPeer(name, { isPrimary: true });
      await fleet.copyZones(peer, `${name}.test`);
      peers.push(peer);
    }
    await fleet.startNodes(2);
    for (const [i, name] of PRIMARIES.entries()) {
      const files = { [`${name}.test.zone`]: zoneText(1) };
      servers.set(
        name,
        await fleet.startPrimary(name, peers[i] as FleetPeer, { zones: [`${name}.test`], files }),
      );
    }
    await Promise.all([fleet.startWorkers(), fleet.startSecondary('nsd', second, { zones: ['knot.test'] })]);
  });
  afterAll(() => fleet?.stop());

  /** Waits until all nodes answer with this text. */
  async function untilAnswered(wanted: string, ...args: string[]) {
    for (const { address } of fleet.nodes) {
      let answer = '';
      await until(
        async () => {
          answer = await dig(address.port, ...args);
          return answer.includes(wanted);
        },
        () => `${args.join(' ')} is answered with ${wanted}: ${answer}`,
      );
    }
  }

  it.each(PRIMARIES)('follow edits at %s', async (name) => {
    await untilAnswered(' 1 3600 ', '+short', `${name}.test`, 'SOA');
    await serverOf(name).rewrite(`${name}.test`, zoneText(2, ['www TXT "new"']));
    await untilAnswered('"new"', '+short', `www.${name}.test`, 'TXT');
  });

  it('are equal at a hidden primary, the nodes and a secondary', async () => {
    for (let serial = 3; serial <= 7; serial++)
      await serverOf('knot').rewrite(
        'knot.test',
        zoneText(serial, [`x${serial} A 192.0.2.${serial}`, 'y MX 10 ns1']),
      );
    const apex = parseName('knot.test.');
    const wanted = await until(async () => {
      const lines = await transferred(serverOf('knot').port, apex);
      return lines.some((line) => line.startsWith('x7.')) && lines;
    }, 'the primary has the last edit');
    await untilAnswered(' 7 3600 ', '+short', 'knot.test', 'SOA');
    for (const { address } of fleet.nodes)
      expect(await transferred(address.port, apex, '-b', UNSIGNED)).toEqual(wanted);
    await until(
      async () => (await transferred(second.port, apex)).join() === wanted.join(),
      'the secondary has the last edit',
    );
  });

  /** Makes a copy due whose EXPIRE has passed. */
  const expire = (zone: string) =>
    sql`update secondaries set expires_at = now(), due_at = now() where zone_name = ${`${zone}.`}`.execute(
      fleet.db,
    );

  it('expire if the primary does not answer, until a transfer succeeds', async () => {
    await serverOf('bind').restart(async () => {
      await expire('bind.test');
      await untilAnswered('EDE: 24', 'bind.test', 'SOA');
      await untilAnswered('SERVFAIL', 'www.bind.test', 'TXT');
    });
    await untilAnswered('"new"', '+short', 'www.bind.test', 'TXT');
  });

  it('do not expire while no worker runs', async () => {
    await fleet.stopWorkers();
    await expire('nsd.test');
    await fleet.saveZones(1, ['later.test']);
    await untilAnswered(' 1 3600 ', '+short', 'later.test', 'SOA');
    await untilAnswered('"new"', '+short', 'www.nsd.test', 'TXT');
    await fleet.startWorkers(2);
    const state = async () => {
      const { rows } = await sql<{ is_current: boolean; expired_at: Date | null }>`
        select expires_at > now() as is_current, expired_at from secondaries where zone_name = 'nsd.test.'`.execute(
        fleet.db,
      );
      return rows[0];
    };
    await until(async () => (await state())?.is_current, 'the copy is refreshed');
    expect((await state())?.expired_at).toBe(null);
  });

  it('that are due together are refreshed once each', async () => {
    const names = Array.from({ length: MANY }, (_, i) => `n${i}.many`);
    await fleet.saveZones(1, names);
    const primary = await misbehave({
      udp: ({ query }, send) => {
        const [soa] = recordsOf(zoneText(1), printName(query.questions[0]?.name as Name));
        const answers = [{ ...(soa as ZoneRecord), class: CLASS.IN }];
        send(encodeMessage(replyTo(query, { aa: true, answers })));
      },
    });
    try {
      const place = { addresses: [primary.address], port: primary.port, networks: [], keyId: null };
      const id = await addPeer(fleet.db, { ...place, name: 'many' });
      await sql`insert into secondaries (zone_name, peers, serial, form)
        select name, array[${id}::bigint], 1, 'axfr' from zones where name like '%.many.'`.execute(fleet.db);
      const refreshes = async () => {
        const { rows } = await sql<{ seq: number; count: number }>`
          select seq, count(*)::integer as count from secondaries where zone_name like '%.many.' group by 1`.execute(
          fleet.db,
        );
        return rows;
      };
      await until(async () => (await refreshes()).every(({ seq }) => seq > 0), 'all copies are refreshed');
      expect(await refreshes()).toEqual([{ seq: 1, count: MANY }]);
      // A query without an answer in time is repeated.
      expect(primary.seen.length).toBeLessThan(1.1 * MANY);
    } finally {
      await primary.close();
    }
  });
});
