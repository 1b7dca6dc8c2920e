// The database of this part: a domain with many names, and many domains with few.

import { parseName } from '../../src/dns/name.ts';
import { migrate } from '../../src/features/migrate.ts';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { createDomain } from '../../src/store/change/save-domain.ts';
import { saveEdit } from '../../src/store/change/save-edit.ts';
import { startRegionalAnswers } from '../../src/store/postgres/answer-settings.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { parseEdit } from '../../src/zone/edit/parse-edit.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { BENCH_SETTINGS } from '../postgres/zonefleet-database.ts';
import { say } from '../say.ts';
import { LARGE_NAME, smallName } from './orders.ts';

const BY = { by: { kind: 'system' }, source: 'api' } as const;
const RECORDS_AT_ONCE = 5000;
const HOSTS = ['www', 'mail', 'ftp', 'api', 'dev', 'shop', 'blog'];

export interface SigningDatabase {
  readonly url: string;
  readonly largeId: number;
  readonly smallIds: readonly number[];
  /** Domains that stay unsigned. */
  readonly otherIds: readonly number[];
}

const OTHERS = 50;

/** One domain, whose names are all proxied, in a fleet with regional answers. */
export async function proxiedDatabase(
  names: number,
): Promise<{ readonly url: string; readonly domainId: number }> {
  const url = await databaseWith(`zonefleet_signing_${names}_proxied`, async (db) => {
    await startRegionalAnswers(db);
    await fillLarge(db, await newAccount(db), names, true);
  });
  const [row] = await runOn(url, `select id::int as id from domains where name = '${LARGE_NAME}'`);
  return { url, domainId: Number(row?.id) };
}

export async function signingDatabase(names: number, domains: number): Promise<SigningDatabase> {
  const url = await databaseWith(`zonefleet_signing_${names}_${domains}`, (db, to) =>
    fill(db, to, names, domains + OTHERS),
  );
  const rows = await runOn(url, `select id::int as id, name from domains order by id`);
  const idOf = new Map(rows.map(({ id, name }) => [String(name), Number(id)]));
  const ids = Array.from({ length: domains + OTHERS }, (_, i) => idOf.get(smallName(i)) as number);
  const largeId = idOf.get(LARGE_NAME) as number;
  return { url, largeId, smallIds: ids.slice(OTHERS), otherIds: ids.slice(0, OTHERS) };
}

async function databaseWith(
  kept: string,
  fillIt: (db: Database, url: string) => Promise<void>,
): Promise<string> {
  const cluster = await benchCluster();
  const made = await cluster.database(kept, async (to) => {
    const db = openDatabase(to, { limits: OPERATOR_LIMITS });
    try {
      await migrate(db, BENCH_SETTINGS);
      await runOn(to, 'update plans set max_records = null, max_domains = null');
      await fillIt(db, to);
    } finally {
      await db.destroy();
    }
    await runOn(to, 'vacuum analyze');
  });
  return await copyOf(made, kept);
}

/** Returns a signed copy of the database. The original is kept for later runs. */
async function copyOf(url: string, name: string): Promise<string> {
  const copy = `${name}_copy`;
  const elsewhere = url.replace(`/${name}`, '/postgres');
  await runOn(elsewhere, `drop database if exists ${copy} with (force)`);
  await runOn(elsewhere, `create database ${copy} template ${name}`);
  return url.replace(`/${name}`, `/${copy}`);
}

async function fill(db: Database, to: string, names: number, domains: number): Promise<void> {
  const accountId = await newAccount(db);
  await fillLarge(db, accountId, names, false);
  const first = smallName(0);
  await create(db, await newDomain(db, accountId, first), first, HOSTS);
  await runOn(to, 'begin', "set local session_replication_role = 'replica'", ...copies(domains), 'commit');
  say(`made ${domains} domains`);
}

async function newAccount(db: Database): Promise<number> {
  const account = await createAccount(db, { email: 'bench@signing.test', planSlug: 'pro' });
  if (account.kind !== 'created') throw new Error(account.message);
  return account.account.id;
}

async function fillLarge(db: Database, accountId: number, names: number, proxied: boolean): Promise<void> {
  const large = await newDomain(db, accountId, LARGE_NAME);
  for (let first = 0; first < names; first += RECORDS_AT_ONCE) {
    const hosts = Array.from(
      { length: Math.min(RECORDS_AT_ONCE, names - first) },
      (_, i) => `host${first + i}`,
    );
    await create(db, large, LARGE_NAME, hosts, proxied);
  }
  say(`created a domain of ${names} names`);
}

/** Copies the first domain's rows for each other domain inside Postgres. Creating them would take many minutes. */
function copies(domains: number): string[] {
  const others = `from generate_series(1, ${domains - 1}) i cross join lateral (
    select replace('${smallName(0)}', '0', i::text) as name) n join zones z0 on z0.name = '${smallName(0)}'`;
  const named = (column: string) => `left(${column}, -length(z0.name)) || n.name`;
  const copied = (table: string, from: string, changes: string) => `
    insert into ${table} overriding system value select r.* ${from}
      cross join lateral jsonb_populate_record(null::${table}, to_jsonb(c) || jsonb_build_object(${changes})) r`;
  const ofDomain = `${others} join domains d on d.name = n.name join domains d0 on d0.name = z0.name`;
  const id = (table: string) => `'id', nextval(pg_get_serial_sequence('${table}', 'id'))`;
  return [
    copied('zones', `${others} join zones c on c.id = z0.id`, `${id('zones')}, 'name', n.name`),
    copied(
      'domains',
      `${others} join zones z on z.name = n.name join domains c on c.name = z0.name`,
      `${id('domains')}, 'name', n.name, 'unicode', rtrim(n.name, '.'), 'zone_id', z.id`,
    ),
    copied('domain_checks', `${ofDomain} join domain_checks c on c.domain_id = d0.id`, `'domain_id', d.id`),
    copied(
      'records',
      `${ofDomain} join records c on c.domain_id = d0.id`,
      `${id('records')}, 'domain_id', d.id, 'name', ${named('c.name')}`,
    ),
    `insert into zone_records (zone_id, owner, type, ttl, rdata, version, removed, place)
     select z.id, ${named('c.owner')}, c.type, c.ttl, c.rdata, c.version, c.removed, c.place
     ${others} join zones z on z.name = n.name join zone_records c on c.zone_id = z0.id`,
  ];
}

async function newDomain(db: Database, accountId: number, name: string): Promise<number> {
  const unicode = name.slice(0, -1);
  const wanted = {
    ...BY,
    accountId,
    name: parseName(name),
    unicode,
    dnsMode: 'managed',
    exempt: true,
  } as const;
  const created = await createDomain(db, wanted);
  if (created.kind !== 'created') throw new Error(created.message);
  return created.domain.id;
}

async function create(
  db: Database,
  domainId: number,
  zone: string,
  hosts: readonly string[],
  proxied = false,
): Promise<void> {
  const records = hosts.map((name) => ({ name, type: 'A' as const, destination: '192.0.2.1', proxied }));
  const parsed = parseEdit({ create: records }, parseName(zone));
  if (parsed.kind !== 'edit') throw new Error(JSON.stringify(parsed.problems.slice(0, 3)));
  const result = await saveEdit(db, { ...BY, domainId, edit: parsed.edit });
  if (result.kind !== 'saved') throw new Error(JSON.stringify(result).slice(0, 500));
}
