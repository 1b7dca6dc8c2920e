// Operators watch when the signatures of zones end that others signed, however such zones came and go.

import { Registry } from 'prom-client';
import { beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { disableSigning } from '../../../src/store/signing/disable-signing.ts';
import { listSigning } from '../../../src/store/signing/load-signing.ts';
import { loadSigningState } from '../../../src/store/signing/signing-state.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { createSigningMetrics } from '../../../workers/metrics/signing-metrics.ts';
import { BY } from '../../support/database/domains.ts';
import { enabled, useSecrets } from '../../support/database/signed-zones.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const FROM = { source: 'test', actor: 'me' } as const;
const DAY = 86_400;
const key = makeKey(13);
const nameOf = (zone: string) => parseName(`${zone}.example.`);

function plain(zone: string) {
  return {
    apex: nameOf(zone),
    records: recordsOf(
      '@ SOA ns. host. 1 2 3 4 5\n@ NS ns.else.example.\nwww A 192.0.2.1',
      `${zone}.example.`,
    ),
  };
}

function signed(zone: string, days: number) {
  const at = Math.floor(Date.now() / 1000);
  const time = { inception: at - DAY, expiration: at + days * DAY };
  const { apex, records } = plain(zone);
  return { apex, records: signRecords(apex, records, { key, time, denial: { kind: 'nsec' } }) };
}

const database = sharedDatabase();
beforeEach(async () => {
  useSecrets(database.db);
});

/** Until the first one ends, in days; undefined: there is none. */
const left = async (kind: 'verbatim' | 'ours' = 'verbatim') => {
  const seconds = (await loadSigningState(database.db)).left[kind];
  return seconds === undefined ? undefined : Math.round(seconds / DAY);
};

test('the first end of all that are loaded counts, until they are loaded or unloaded', async () => {
  const { db } = database;
  await saveZones(db, [signed('a', 10), signed('b', 4), plain('c')], FROM);
  expect(await left()).toBe(4);
  expect(await listSigning(db)).toEqual([]);
  await saveZones(db, [signed('b', 20)], FROM);
  expect(await left()).toBe(10);
  await saveZones(db, [signed('b', -2)], FROM);
  expect(await left()).toBe(-2);
  await saveZones(db, [plain('b')], FROM);
  expect(await left()).toBe(10);
  await unloadZones(db, [nameOf('a')], FROM);
  expect(await left()).toBeUndefined();
});

test('a zone that is answered as unsigned has none', async () => {
  const { apex, records } = signed('a', 10);
  const withoutSoa = records.filter(
    ({ type, rdata }) => type !== 46 || ((rdata[0] as number) << 8) + (rdata[1] as number) !== 6,
  );
  await saveZones(database.db, [{ apex, records: withoutSoa }], FROM);
  expect(await left()).toBeUndefined();
});

test('a zone can be signed by others, by us, and by others again', async () => {
  const { db } = database;
  const subject = { zoneName: 'a.example.' };
  await saveZones(db, [signed('a', 10)], FROM);
  await saveZones(db, [plain('a')], FROM);
  await enabled(db, subject);
  expect([await left(), await left('ours')]).toEqual([undefined, expect.any(Number)]);
  await disableSigning(db, subject, BY);
  await saveZones(db, [signed('a', 5)], FROM);
  expect([await left(), await left('ours')]).toEqual([5, undefined]);
  await saveZones(db, [plain('a')], FROM);
  expect(await left()).toBeUndefined();
  await enabled(db, subject);
  const [zone] = await listSigning(db);
  expect(zone?.keys).toHaveLength(1); // that of before
});

test('is a metric of the workers', async () => {
  await saveZones(database.db, [signed('a', 10)], FROM);
  const registry = new Registry();
  const state = () => loadSigningState(database.db);
  createSigningMetrics(registry, { state, isBreakerOpen: () => false });
  const line = /^zonefleet_signatures_left_seconds\{kind="verbatim"\} (\S+)$/m;
  const seconds = Number(line.exec(await registry.metrics())?.[1]);
  expect(Math.round(seconds / DAY)).toBe(10);
});
