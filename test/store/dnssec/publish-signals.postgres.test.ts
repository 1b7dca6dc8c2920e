// Signals of domains that await their first DS record are only in the zones of their nameservers.

import { beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import {
  FIRST_SIGNALS,
  publishSignals,
  type SignalCursor,
} from '../../../src/store/dnssec/publish-signals.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { disableSigning } from '../../../src/store/signing/disable-signing.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain, published, saved } from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, value } = sharedDatabase();
let accountId: number;
let cursor: SignalCursor;

const MATCH = 'referral ns1.example.net ns2.example.net';
const HOSTS = ['ns1.example.net', 'ns2.example.net'];
const zoneOf = (host: string) => parseName(`_signal.${host}.`);

beforeEach(async () => {
  useSecrets(db);
  cursor = FIRST_SIGNALS;
  accountId = await newAccount(db, 'ann@example.org');
});

async function loadSignalZone(host: string, serial = 1): Promise<string> {
  const apex = zoneOf(host);
  const text = `@ 3600 SOA ns1.example.net. host.example.net. ${serial} 7200 900 604800 60\n@ 3600 NS ${host}.\nhint 60 TXT "ours"`;
  const [saved] = await saveZones(db, [{ apex, records: recordsOf(text, `_signal.${host}.`) }], {
    source: 'cli',
  });
  return saved?.outcome as string;
}

async function signedSignalZones(hosts = HOSTS): Promise<void> {
  for (const host of hosts) {
    await loadSignalZone(host);
    await enabled(db, { zoneName: `_signal.${host}.` });
  }
}

/** Puts a domain into the state in which the key machine requests its DS record. */
async function waiting(name: string): Promise<number> {
  const { id: domainId } = await newDomain(db, accountId, `${name}.`);
  await enabled(db, { domainId });
  await query`update signing_keys set in_cds = true where signed_zone_id = (
    select id from signed_zones where domain_id = ${domainId})`;
  await query`update signed_zones set phase = 'ds_wanted', seq = seq + 1 where domain_id = ${domainId}`;
  await checkOnce(db, domainId, MATCH);
  await saved(db, domainId, edit({ create: ['www A 198.51.100.1'] }, parseName(`${name}.`)));
  return domainId;
}

async function round(limit?: number) {
  const done = await publishSignals(
    db,
    cursor,
    (error) => {
      throw error;
    },
    limit,
  );
  cursor = done.cursor;
  return done;
}

/** Without the SOA and signatures: `_dsboot.shop.example CDS 4711 …`. */
async function signals(host: string): Promise<string[]> {
  return ((await published(db, zoneOf(host))) ?? [])
    .filter((line) => /^\S+ \d+ (CDS|CDNSKEY) /.test(line))
    .map((line) => line.replace(/ \d+ /, ' '));
}

async function apexSignals(name: string): Promise<string[]> {
  const found = ((await published(db, parseName(`${name}.`))) ?? [])
    .filter((line) => /^@ \d+ (CDS|CDNSKEY) /.test(line))
    .map((line) => line.replace(/^@ \d+/, `_dsboot.${name}`));
  expect(found).toHaveLength(2);
  return found;
}

test('each nameserver with a zone shows the CDS and CDNSKEY records of the apex, in one change', async () => {
  await signedSignalZones();
  await waiting('shop.example');
  await waiting('cafe.example');
  const before = await versions();
  expect(await round()).toMatchObject({ changed: 4, isMore: false });
  const wanted = [...(await apexSignals('cafe.example')), ...(await apexSignals('shop.example'))];
  expect(wanted).toHaveLength(4);
  for (const host of HOSTS) {
    expect(await signals(host)).toEqual(wanted);
    expect(await signatureFaults(db, zoneOf(host))).toEqual([]);
  }
  expect((await versions()) - before).toBe(HOSTS.length);
  expect(await round()).toMatchObject({ changed: 0 });
  expect((await versions()) - before).toBe(HOSTS.length);
});

async function versions(): Promise<number> {
  return (await value<number>`
    select count(*)::integer as count from changes where zone like '\\_signal.%'`) as number;
}

test('signals are removed after a DS was seen, the goal has changed, or the domain is deleted', async () => {
  await signedSignalZones();
  const names = ['a.example', 'b.example', 'c.example', 'd.example'];
  const ids = [];
  for (const name of names) ids.push(await waiting(name));
  await round();
  expect(await signals(HOSTS[0] as string)).toHaveLength(8);
  await query`update signed_zones set had_ds = true where domain_id = ${ids[0]}`;
  await query`update signed_zones set phase = 'ds_removal', goal = 'unsigned' where domain_id = ${ids[1]}`;
  await query`delete from domains where id = ${ids[2]}`;
  await round();
  for (const host of HOSTS) {
    expect(await signals(host)).toEqual(await apexSignals('d.example'));
    expect(await signatureFaults(db, zoneOf(host))).toEqual([]);
  }
  expect(await query`select from signed_zones where signalled_in is not null`).toHaveLength(1);
  await disableSigning(db, { domainId: ids[3] as number }, BY);
  await round();
  expect(await signals(HOSTS[0] as string)).toEqual([]);
});

test('a nameserver without a signed zone is left out, but included once it has one', async () => {
  await signedSignalZones([HOSTS[0] as string]);
  await waiting('shop.example');
  await round();
  const wanted = await apexSignals('shop.example');
  expect(await signals(HOSTS[0] as string)).toEqual(wanted);
  await loadSignalZone(HOSTS[1] as string);
  await round();
  expect(await signals(HOSTS[1] as string)).toEqual([]);
  await enabled(db, { zoneName: `_signal.${HOSTS[1]}.` });
  await round();
  expect(await signals(HOSTS[1] as string)).toEqual(wanted);
});

test('a reloaded zone keeps its signals, and a file that contains signals is rejected', async () => {
  await signedSignalZones();
  await waiting('shop.example');
  await round();
  const [host] = HOSTS as [string];
  const wanted = await apexSignals('shop.example');
  expect(await loadSignalZone(host)).toBe('unchanged');
  expect(await loadSignalZone(host, 5)).toBe('replaced');
  expect(await signals(host)).toEqual(wanted);
  expect(await signatureFaults(db, zoneOf(host))).toEqual([]);
  const apex = zoneOf(host);
  const text = `@ 60 SOA a. b. 9 1 1 1 1\n@ 60 NS ${host}.\n_dsboot.bank.example 60 CDS 1 13 2 ${'00'.repeat(32)}`;
  await expect(
    saveZones(db, [{ apex, records: recordsOf(text, `_signal.${host}.`) }], { source: 'cli' }),
  ).rejects.toThrow('is signed by this fleet');
});

test('domains that exceed a round follow in the next ones, and none is skipped', async () => {
  await signedSignalZones([HOSTS[0] as string]);
  for (const name of ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']) await waiting(name);
  expect(await round(2)).toMatchObject({ changed: 2, isMore: true });
  expect(await round(2)).toMatchObject({ changed: 2, isMore: true });
  expect(await round(2)).toMatchObject({ changed: 1, isMore: false });
  // A purged domain is found only through its signals in the zone.
  await query`delete from domains where name = 'c.example.'`;
  for (let rounds = 0; rounds < 4; rounds++) await round(2);
  expect(await signals(HOSTS[0] as string)).toHaveLength(8);
});

test('a signal name above 255 octets is left out, and the others of the round are written', async () => {
  await signedSignalZones([HOSTS[0] as string]);
  const label = 'x'.repeat(63);
  await waiting(`${label}.${label}.${label}.${'y'.repeat(30)}.example`);
  await waiting('shop.example');
  await round();
  expect(await signals(HOSTS[0] as string)).toEqual(await apexSignals('shop.example'));
});

test('a process without the keys reports it, and retries', async () => {
  await signedSignalZones([HOSTS[0] as string]);
  await waiting('shop.example');
  const blind = openDatabase(url);
  const troubles: unknown[] = [];
  await publishSignals(blind, FIRST_SIGNALS, (error) => troubles.push(error));
  await blind.destroy();
  expect(String(troubles[0])).toContain('KEY_SECRETS');
  await round();
  expect(await signals(HOSTS[0] as string)).toHaveLength(2);
});
