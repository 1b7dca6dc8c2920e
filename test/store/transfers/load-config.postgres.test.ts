import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TransferConfig } from '../../../src/nameserver/transfer/transfer-config.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { createKey, importKey } from '../../../src/store/transfers/keys.ts';
import { loadTransferConfig } from '../../../src/store/transfers/load-config.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { setPolicy } from '../../../src/store/transfers/policies.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, value } = keptDatabase();
const SECRETS = [{ name: 'one', secret: Buffer.alloc(32, 1) }];
let node: Connection;

beforeAll(async () => {
  node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
});
afterAll(() => node.close());

const load = async () => {
  const stored = await loadTransferConfig(node, undefined, { takesUpdates: true });
  return new TransferConfig(stored!, SECRETS);
};
const grants = (config: TransferConfig, zoneId: number | undefined) =>
  config
    .grantsOf(zoneId ?? 0)
    .map(({ peer, transfers, notified }) => [peer.name ?? 'own', transfers, notified].join(' '));

test('the configuration has the keys, and the peers of each zone, until it changes', async () => {
  const zone = (name: string) => ({
    apex: parseName(name),
    records: recordsOf('@ SOA n h 1 2 3 4 5\n@ NS n.', name),
  });
  await saveZones(db, [zone('plain.test.'), zone('other.test.')], { source: 'test' });
  const idOf = (name: string) => value<number>`select id from zones where name = ${name}`;
  const made = await createKey(db, SECRETS, { accountId: null, algorithm: 'hmac-sha512', label: 'acme' });
  const primaryKey = {
    accountId: null,
    algorithm: 'hmac-sha256',
    name: 'theirs.',
    secret: Buffer.alloc(32),
  } as const;
  const imported = await importKey(db, SECRETS, primaryKey);
  if (made.kind !== 'stored' || imported.kind !== 'stored') throw new Error('a key is not stored');
  const peer = { addresses: ['192.0.2.1', '2001:db8::1'], port: 5300, networks: ['192.0.2.0/24'] };
  await addPeer(db, { ...peer, name: 'first', keyId: made.key.id });
  await addPeer(db, { ...peer, name: 'second', keyId: null });
  await addPeer(db, { ...peer, name: 'primary', keyId: imported.key.id });
  await setPolicy(db, { name: 'default', transfers: ['first', 'second'], notified: ['second'] });
  await setPolicy(db, { name: 'few', transfers: [], notified: ['first'] });
  await query`update zones set policy_id = (select id from transfer_policies where name = 'few') where name = 'other.test.'`;
  const domain = await newDomain(db, await newAccount(db, 'a@example.org'));
  await query`
    insert into peers (domain_id, addresses, transfers, notified) values (${domain.id}, '{198.51.100.1}', true, false)`;
  await query`
    insert into secondaries (zone_name, peers, max_records)
    select 'copy.test.', array[id], 100 from peers where name = 'primary'`;

  const config = await load();
  const otherId = await idOf('other.test.');
  expect(grants(config, await idOf('plain.test.'))).toEqual(['first true false', 'second true true']);
  expect(grants(config, otherId)).toEqual(['first false true']);
  const zoneOfDomain = await value<number>`select zone_id from domains`;
  expect(grants(config, zoneOfDomain)).toEqual(['first true false', 'second true true', 'own true false']);
  const served = config.keyNamed(parseName(made.key.name));
  expect(served?.key).toEqual({
    name: parseName(made.key.name),
    algorithm: 'hmac-sha512',
    secret: made.secret,
  });
  expect(config.keyNamed(parseName('theirs.'))).toBeUndefined();
  const [primary] = config.primariesOf(parseName('copy.test.')) ?? [];
  expect(primary?.key?.key?.secret).toEqual(primaryKey.secret);
  expect(primary?.networks.map(({ bits }) => bits)).toEqual([24, 32, 128]);
  expect(config.operatorNetworks.map(({ bits }) => bits)).toEqual([24, 32, 128, 24, 32, 128, 24, 32, 128]);
  expect(config.primariesOf(parseName('plain.test.'))).toBeUndefined();
  expect(await loadTransferConfig(node, config.version, { takesUpdates: true })).toBeUndefined();

  await unloadZones(db, [parseName('other.test.')], { source: 'test' });
  expect(grants(await load(), otherId)).toEqual(['first false true']);
  await saveZones(db, [zone('other.test.')], { source: 'test' });

  await query`
    insert into update_grants (key_id, domain_id, zone_id, match, owner) values
      (${made.key.id}, ${domain.id}, null, 'exact', 'example.com.'), (${made.key.id}, ${domain.id}, null, 'exact', 'a.'),
      (${made.key.id}, null, (select id from zones where name = 'other.test.'), 'exact', 'other.test.')`;
  const granted = await load();
  expect(granted.version).toBe(config.version + 1);
  const mayUpdate = (name: string) => granted.mayUpdate(made.key.id, parseName(name));
  expect(['example.com.', 'other.test.', 'plain.test.'].map(mayUpdate)).toEqual([true, true, false]);
  expect(granted.mayUpdate(imported.key.id, parseName('example.com.'))).toBe(false);
  await query`delete from update_grants`;
  expect((await load()).mayUpdate(made.key.id, parseName('other.test.'))).toBe(false);

  await query`update tsig_keys set revoked_at = now() where id = ${made.key.id}`;
  const later = await load();
  expect(later.version).toBeGreaterThan(config.version);
  expect(later.keyNamed(parseName(made.key.name))).toBeUndefined();
  const notified = (current: TransferConfig, zoneId: number | undefined) =>
    current.notifiedPeersOf(zoneId ?? 0, Date.now()).map(({ name, port }) => `${name} ${port}`);
  expect(notified(config, await idOf('other.test.'))).toEqual(['first 5300']);
  expect(notified(later, await idOf('other.test.'))).toEqual([]);
});
