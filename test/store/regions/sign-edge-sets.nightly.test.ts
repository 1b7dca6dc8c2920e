// Per-region record sets, from the rows of edges to what nodes load, with valid signatures in signed zones.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { loadEdgeSets } from '../../../src/store/feed/load-changed-zones.ts';
import { DnssecUnavailable } from '../../../src/store/keys/signed-zone.ts';
import { republishDomains } from '../../../src/store/migrate/republish-domains.ts';
import { lockPublishSettings } from '../../../src/store/postgres/answer-settings.ts';
import { connect } from '../../../src/store/postgres/connection.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import {
  claimDueEdgeZones,
  type DueEdgeZone,
  signedSetsKey,
} from '../../../src/store/regions/claim-edge-zones.ts';
import { type DecidedSets, decideEdgeSets } from '../../../src/store/regions/decide-edge-sets.ts';
import { signEdgeSets } from '../../../src/store/regions/sign-edge-sets.ts';
import { claimDueRefreshes } from '../../../src/store/signing/claim-due-zones.ts';
import { disableSigning } from '../../../src/store/signing/disable-signing.ts';
import { refreshSignatures } from '../../../src/store/signing/refresh-signatures.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { verifySet } from '../../../src/zone/signing/verify-set.ts';
import { EDGE_MARK_TYPE, type RecordSet, type ZoneNode } from '../../../src/zone/zone.ts';
import { asRole, TEST_SETTINGS } from '../../support/database/database.ts';
import { atLater } from '../../support/database/database-clock.ts';
import { BY, expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { regionalSet } from '../../support/reference/regional-set.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const NEVER = new AbortController().signal;

const { db, url, query, value } = sharedDatabase();
let domainId: number;
const later: Database[] = [];

beforeEach(async () => {
  useSecrets(db);
  const accountId = await newAccount(db, 'a@example.org');
  domainId = (await newDomain(db, accountId)).id;
  await saved(db, domainId, ['www A 198.51.100.1 ; proxied', 'plain A 198.51.100.2']);
});
afterEach(() => Promise.all(later.splice(0).map((one) => one.destroy())));

async function addEdge(name: string, region: string, v4: string[], v6: string[] = []): Promise<void> {
  await query`
    insert into edges (name, region, v4, v6, token_hash, token_prefix, seen_at)
    values (${name}, ${region}, ${v4}, ${v6}, ${Buffer.from(name)}, 'edge_', now())`;
}

async function decide(): Promise<DecidedSets> {
  const decided = await decideEdgeSets(db);
  if (decided === undefined) throw new Error('another process decides');
  return decided;
}

/** Runs one round of a worker. */
async function round(on: Database = db): Promise<number> {
  const { sets } = await decide();
  await republishDomains(db);
  let made = 0;
  for (const due of await claimDueEdgeZones(on, signedSetsKey(sets), 9))
    made += await signEdgeSets(on, due, sets, NEVER);
  return made;
}

const marks = async () =>
  (await loadZone(db, APEX))?.records.filter(({ type }) => type === EDGE_MARK_TYPE) ?? [];

describe('the per-region record sets', () => {
  test('are empty without edges, and follow new, drained and revoked edges and the countries of regions', async () => {
    expect(await decide()).toMatchObject({ sets: { version: 0, regions: [] }, isChanged: false });
    await round();
    expect(await marks()).toEqual([]);
    await query`insert into edge_countries values ('DE', 'eu'), ('US', 'us')`;
    await addEdge('a', 'eu', ['203.0.113.1']);
    await addEdge('b', 'eu', ['203.0.113.2'], ['2001:db8:e::2']);
    expect((await decide()).sets).toEqual({
      version: 1,
      regions: [{ region: 'eu', v4: [['203.0.113.1', '203.0.113.2']], v6: [['2001:db8:e::2']] }],
      countries: { DE: 'eu' },
    });
    expect((await decide()).isChanged).toBe(false);
    await query`update edges set drained_at = now() where name = 'a'`;
    expect((await decide()).sets.regions[0]?.v4).toEqual([['203.0.113.2'], ['203.0.113.1', '203.0.113.2']]);
    await query`update edges set revoked_at = now()`;
    expect((await decide()).sets.regions).toEqual([]);
  });

  test('are held while more than half of the edges are silent', async () => {
    for (const name of ['a', 'b', 'c']) await addEdge(name, 'eu', [`203.0.113.${name.charCodeAt(0)}`]);
    await decide();
    await query`update edges set seen_at = now() - interval '61 s' where name <> 'a'`;
    expect(await decide()).toMatchObject({ held: { silent: 2, published: 3 }, isChanged: false });
    await query`update edges set seen_at = now() where name = 'b'`;
    expect(await decide()).toMatchObject({ held: { silent: 1, published: 3 }, isChanged: false });
    // An edge that does not return is removed after the others have been back for a while.
    await query`update edge_sets set held = jsonb_set(held, '{atMs}', to_jsonb((held ->> 'atMs')::float8 - 60000))`;
    const after = await decide();
    expect(after.held).toBeUndefined();
    expect(after.sets.regions[0]?.v4[0]).toEqual(['203.0.113.97', '203.0.113.98']);
  });
});

test('are decided repeatedly while domains are created, without locking the settings', async () => {
  await addEdge('a', 'eu', ['203.0.113.1']);
  await decide();
  await db.transaction().execute(async (trx) => {
    await lockPublishSettings(trx);
    expect((await decide()).isChanged).toBe(false);
  });
});

test('names published before the first edge get their markers, and an edit keeps them', async () => {
  await addEdge('a', 'eu', ['203.0.113.1']);
  await round();
  expect(await marks()).toHaveLength(1);
  await saved(db, domainId, ['shop A 198.51.100.3 ; proxied']);
  expect(await marks()).toHaveLength(2);
  await expectPublished(db, domainId);
});

test('a zone whose keys cannot be opened does not delay others, and is due again when its lease ends', async () => {
  await enabled(db, { domainId });
  await addEdge('a', 'eu', ['203.0.113.1']);
  const { sets } = await decide();
  await republishDomains(db);
  const key = signedSetsKey(sets);
  const without = openDatabase(url, { maxConnections: 2 });
  later.push(without);
  const [due] = await claimDueEdgeZones(without, key, 9);
  await expect(signEdgeSets(without, due as DueEdgeZone, sets, NEVER)).rejects.toThrow(DnssecUnavailable);
  expect(await claimDueEdgeZones(db, key, 9)).toEqual([]);
  await query`update edge_signings set leased_until = clock_timestamp()`;
  expect(await round()).toBe(1);
});

test('only edits of proxied names make a signed zone due, and only these names are examined', async () => {
  await enabled(db, { domainId });
  await addEdge('a', 'eu', ['203.0.113.1']);
  await round();
  const { sets } = await decide();
  const key = signedSetsKey(sets);
  await saved(db, domainId, ['new A 198.51.100.9']);
  expect(await claimDueEdgeZones(db, key, 9)).toEqual([]);
  await saved(db, domainId, ['shop A 198.51.100.3 ; proxied']);
  const [due] = await claimDueEdgeZones(db, key, 9);
  expect(due?.since).not.toBeNull();
  expect(await signEdgeSets(db, due as DueEdgeZone, sets, NEVER)).toBe(1);
  expect(await claimDueEdgeZones(db, key, 9)).toEqual([]);
});

test('workers, API and nodes have the required privileges', async () => {
  await migrate(db, TEST_SETTINGS); // grants the privileges
  await addEdge('a', 'eu', ['203.0.113.1']);
  await enabled(db, { domainId });
  const workers = openDatabase(asRole(url, 'zonefleet_worker'), { maxConnections: 2 });
  useSecrets(workers);
  later.push(workers);
  const decided = await decideEdgeSets(workers);
  await republishDomains(workers);
  for (const due of await claimDueEdgeZones(workers, signedSetsKey(decided!.sets), 9))
    expect(await signEdgeSets(workers, due, decided!.sets, NEVER)).toBe(1);
  const api = openDatabase(asRole(url, 'zonefleet_api'), { maxConnections: 2 });
  useSecrets(api);
  later.push(api);
  await saved(api, domainId, ['shop A 198.51.100.3 ; proxied']);
  for (const due of await claimDueEdgeZones(workers, signedSetsKey(decided!.sets), 9))
    expect(await signEdgeSets(workers, due, decided!.sets, NEVER)).toBe(1);
  const node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
  expect(JSON.parse((await loadEdgeSets(node, '')) ?? '')).toEqual(decided?.sets);
  expect(await loadEdgeSets(node, (await loadEdgeSets(node, '')) ?? '')).toBeUndefined();
  await node.close();
});

test('a domain that edges of only some regions serve publishes the default addresses everywhere', async () => {
  await addEdge('a', 'eu', ['203.0.113.1']);
  await round();
  await setServedRegions(db, domainId, ['eu']);
  expect(await marks()).toEqual([]);
  await expectPublished(db, domainId);
  await saved(db, domainId, ['shop A 198.51.100.3 ; proxied']);
  expect(await marks()).toEqual([]);
  await setServedRegions(db, domainId, null);
  expect(await marks()).toHaveLength(2);
  await expectPublished(db, domainId);
});

/** Returns the set that a node answers in the region, as text, or `bogus` if it does not validate. */
async function answered(region: number, type: number = TYPE.A, days = 0, name = 'www'): Promise<string> {
  const { sets } = await decide();
  const built = buildZone(APEX, (await loadZone(db, APEX))?.records ?? []);
  if (built.kind === 'refused') throw new Error(built.problems[0]?.message);
  const { zone } = built;
  const node = zone.nodes.get(parseName(`${name}.example.com.`)) as ZoneNode;
  const at = Math.floor(Date.now() / 1000) + days * 86_400;
  const set = regionalSet(zone, node, node.sets.get(type) as RecordSet, { region: sets.regions[region], at });
  const keys = (zone.nodes.get(APEX)?.sets.get(TYPE.DNSKEY)?.rdata ?? []).map((rdata) => ({
    tag: keyTag(rdata),
    algorithm: rdata[3] as number,
    publicKey: rdata.subarray(4),
  }));
  const fault = verifySet(set, { zone: APEX, keys, at });
  return fault === undefined ? set.rdata.map((one) => one.join('.')).join() : `bogus: ${fault}`;
}

const answeredAt = async (name: string) => await answered(0, TYPE.A, 0, name);

describe('changes between the signing of a page and its writing', () => {
  beforeEach(async () => {
    await saved(db, domainId, ['shop A 198.51.100.3 ; proxied', 'mail A 198.51.100.4 ; proxied']);
    await enabled(db, { domainId });
    await addEdge('a', 'eu', ['203.0.113.1']);
    await round();
    await query`update edges set v4 = '{203.0.113.9}'`;
  });

  /** Runs a round that does `meanwhile` after the page was read and signed, while another transaction has the lock. */
  async function roundWith(meanwhile: (trx: Database) => Promise<void>): Promise<number> {
    const { sets } = await decide();
    const [due] = await claimDueEdgeZones(db, signedSetsKey(sets), 9);
    let signing: Promise<number> | undefined;
    await db.transaction().execute(async (trx) => {
      await sql`select from domains where id = ${domainId} for update`.execute(trx);
      signing = signEdgeSets(db, due as DueEdgeZone, sets, NEVER);
      signing.catch(() => {});
      await until(async () => (await waiting(trx)) > 0, 'the writing of the page waits');
      await meanwhile(trx);
    });
    return (await signing) ?? 0;
  }

  async function waiting(trx: Database): Promise<number> {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      trx,
    );
    return rows.length;
  }

  const names = async () =>
    [...new Set((await marks()).map(({ owner }) => printName(owner)))]
      .sort()
      .map((name) => name.split('.')[0]);

  test('changed names are signed again, and the others are written as they were read', async () => {
    const id = await value<number>`select id from records where name like 'mail.%'`;
    expect(
      await roundWith(async (trx) => {
        await saved(trx, domainId, {
          replace: [['shop', 'A', '120 A 198.51.100.3 ; proxied']],
          delete: [id as number],
          create: ['late A 198.51.100.5 ; proxied'],
        });
      }),
    ).toBe(2);
    expect(await names()).toEqual(['late', 'shop', 'www']);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect(await round()).toBe(1); // the new name
    expect(await round()).toBe(0);
    for (const name of ['late', 'shop', 'www']) expect(await answeredAt(name)).toBe('203.0.113.9');
    await expectPublished(db, domainId);
  });

  test('signatures are made by the keys that sign at the time of writing', async () => {
    const made = await roundWith(async (trx) => {
      await disableSigning(trx, { domainId }, BY);
      await enabled(trx, { domainId });
    });
    expect(made).toBe(3);
    for (const name of ['mail', 'shop', 'www']) expect(await answeredAt(name)).toBe('203.0.113.9');
    expect(await signatureFaults(db, APEX)).toEqual([]);
  });

  test('nothing is written to a zone that is no longer signed, or to a deleted domain', async () => {
    expect(await roundWith(async (trx) => void (await disableSigning(trx, { domainId }, BY)))).toBe(0);
    await query`update edge_signings set leased_until = null`;
    expect(await round()).toBe(0);
    expect(await query`select from edge_signings`).toEqual([]);
    await enabled(db, { domainId });
    expect(await round()).toBe(3);
    await query`update edges set v4 = '{203.0.113.8}'`;
    expect(await roundWith(async (trx) => void (await deleteDomain(trx, { ...BY, domainId })))).toBe(0);
    await query`update edge_signings set leased_until = null`;
    expect(await round()).toBe(0);
  });
});

describe.each(['nsec', 'nsec3'] as const)('in a zone signed with %s', (denial) => {
  let fallback: string;

  beforeEach(async () => {
    await enabled(db, { domainId }, { denial });
    await addEdge('a', 'eu', ['203.0.113.1']);
    await addEdge('b', 'eu', ['203.0.113.2'], ['2001:db8:e::2']);
    await decide();
    await republishDomains(db);
    fallback = await answered(0);
  });

  test('a region has the edge’s own set until its set is signed, and keeps it while a newer one is being signed', async () => {
    expect(fallback).not.toContain('203.0.113.');
    expect(fallback).not.toContain('bogus');
    expect(await round()).toBe(2); // one for A, one for AAAA
    expect(await answered(0)).toBe('203.0.113.1,203.0.113.2');
    expect(await answered(0, TYPE.AAAA)).not.toContain('bogus');
    expect(await round()).toBe(0);
    await query`update edges set drained_at = now() where name = 'a'`;
    await decide();
    expect(await answered(0)).toBe('203.0.113.1,203.0.113.2');
    expect(await round()).toBe(1);
    expect(await answered(0)).toBe('203.0.113.2');
    expect(await marks()).toHaveLength(3); // the marker itself, and two signatures
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
  });

  test('signatures stay after edits of other names and of this one', async () => {
    await round();
    await saved(db, domainId, ['mail A 198.51.100.9', 'www TXT "x"']);
    expect(await answered(0)).toBe('203.0.113.1,203.0.113.2');
    expect(await round()).toBe(0);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
  });

  test('signatures are renewed before they expire, by the keys that sign', async () => {
    await round();
    const [signed] = await query<{ id: number }>`select id from signed_zones`;
    const soon = await atLater({ db, url }, 8);
    useSecrets(soon);
    later.push(soon);
    expect(await claimDueRefreshes(soon, 9)).toHaveLength(1);
    await refreshSignatures(soon, (signed as { id: number }).id, NEVER);
    expect(await round(soon)).toBe(2);
    expect(await answered(0, TYPE.A, 8)).toBe('203.0.113.1,203.0.113.2');
  });

  test('a zone that is no longer signed has its regions without signatures', async () => {
    await round();
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await disableSigning(db, { domainId }, BY);
    expect((await loadZone(db, APEX))?.records.some(({ type }) => type === TYPE.RRSIG)).toBe(false);
    await round();
    await expectPublished(db, domainId);
  });

  test('nothing remains of regions after their edges are revoked', async () => {
    await round();
    await query`update edges set revoked_at = now()`;
    await round();
    expect(await answered(0)).toBe(fallback);
    expect(await marks()).toHaveLength(1);
  });
});
