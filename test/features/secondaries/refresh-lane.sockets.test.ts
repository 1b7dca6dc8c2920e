// Refreshes in their thread, from a primary on loopback.

import { beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import { RefreshLane } from '../../../src/features/secondaries/refresh-lane.ts';
import { addSecondary } from '../../../src/features/secondaries/sql-manage.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { framed } from '../../support/answer/sockets.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { type MisbehavingServer, misbehave, type Seen } from '../../support/world/misbehaving-server.ts';
import { replyTo } from '../../support/world/world-server.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query } = sharedDatabase();
const ZONE = 'copy.example.';
const [SOA, ...REST] = recordsOf('@ SOA ns h 7 3600 600 86400 60\n@ NS ns\nns A 192.0.2.1', ZONE);

function answer({ query }: Seen, records: readonly ZoneRecord[]): Uint8Array {
  const answers = records.map((record) => ({ ...record, class: CLASS.IN }));
  return encodeMessage(replyTo(query, { aa: true, answers }));
}

let lane: RefreshLane;
let server: MisbehavingServer;
let isSilent: boolean;
let id: number;

beforeEach(async () => {
  isSilent = false;
  server = await misbehave({
    udp: (seen, respond) => respond(answer(seen, [SOA!])),
    tcp: (seen, socket) => {
      if (!isSilent) socket.write(framed(answer(seen, [SOA!, ...REST, SOA!])));
    },
  });
  await query`insert into peers (name, addresses, port) values ('one', ${[server.address]}::inet[], ${server.port})`;
  id = ((await addSecondary(db, { zone: ZONE, from: ['one'], maxRecords: null })) as { id: number }).id;
  lane = new RefreshLane({
    databaseUrl: url,
    tsigSecrets: [],
    resolverAllow: [],
    transferSource: '127.0.0.1',
    secondaryMaxRecords: 100_000,
  });
  return async () => {
    await lane.stop();
    await server.close();
  };
});

test('a zone is transferred in the thread, which starts again after its end', async () => {
  const { signal } = new AbortController();
  expect(await lane.refresh(id, signal)).toMatchObject({ kind: 'transferred', serial: 7, records: 3 });
  expect((await loadZone(db, parseName(ZONE)))?.records.map(({ type }) => type).sort()).toEqual(
    [TYPE.A, TYPE.NS, TYPE.SOA].sort(),
  );
  await lane.stop();
  await query`update secondaries set due_at = now()`;
  expect(await lane.refresh(id, signal)).toEqual({ kind: 'current', zone: ZONE, wasFailing: false });
});

test('a refresh ends when it is aborted, or with its thread', async () => {
  isSilent = true;
  const stopping = new AbortController();
  const aborted = lane.refresh(id, stopping.signal);
  const ended = lane.refresh(id, new AbortController().signal);
  aborted.catch(() => {});
  ended.catch(() => {});
  await until(() => server.seen.filter(({ transport }) => transport === 'tcp').length === 2);
  stopping.abort(new Error('stopped'));
  await expect(aborted).rejects.toThrow('stopped');
  await lane.stop();
  await expect(ended).rejects.toThrow();
  expect(await query`select serial, failures from secondaries`).toEqual([{ serial: null, failures: 0 }]);
});
