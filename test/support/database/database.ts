// A database for a test file or a test: a copy of the migrated template.

import { sql } from 'kysely';
import { Client } from 'pg';
import { inject } from 'vitest';
import { PRIVILEGES_OF_FEATURES, QUEUES } from '../../../src/features/every-feature.ts';
import { migrateQueue } from '../../../src/jobs/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../../src/store/postgres/deadlines.ts';
import type { ProcessRole } from '../../../src/store/roles/role-privileges.ts';
import { prepareRoles } from '../../../src/store/roles/roles.ts';
import { readTemplateRows, resetDatabase, type TemplateRows } from './reset-database.ts';

export interface TestServer {
  name: string;
  url: string;
}

export interface TestDatabase {
  url: string;
  db: Database;
  drop(): Promise<void>;
}

export const DEBIAN_POSTGRES = '/usr/lib/postgresql/15';
export const TEMPLATE_DATABASE = 'zonefleet_template';

export const TEST_SETTINGS = {
  edgeIpv4: ['192.0.2.1'],
  edgeIpv6: ['2001:db8::1'],
  nameserverSets: [['ns1.example.net', 'ns2.example.net']],
  soaRname: 'hostmaster.example.net',
};

/** Returns the Postgres server of the running project: the embedded one or, for `postgres-15`, Debian's. */
function testServer(): TestServer {
  return inject('postgresServer');
}

let templateRows: Promise<TemplateRows> | undefined;

/** A database that `create` creates. Its URL and pool can be used before that. */
interface PlannedDatabase extends TestDatabase {
  /** `empty` leaves out the schema. `copyOf` names a database without connections, which is copied instead of the template. */
  create(options?: { empty?: boolean; copyOf?: string }): Promise<void>;
}

export function planDatabase(): PlannedDatabase {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const url = databaseUrl(testServer(), name);
  // Tests load whole tables, on busy machines.
  const db = openDatabase(url, { limits: OPERATOR_LIMITS });
  return {
    url,
    db,
    async create({ empty = false, copyOf = TEMPLATE_DATABASE } = {}) {
      const template = empty ? 'template0' : copyOf;
      // A file copy takes half the time of a copy through the write-ahead log if nothing waits for the disk.
      await runOn(testServer(), `create database ${name} template ${template} strategy file_copy`);
      if (template !== TEMPLATE_DATABASE) return;
      templateRows ??= readTemplateRows(db);
      await templateRows;
    },
    async drop() {
      await db.destroy();
      await runOn(testServer(), `drop database if exists ${name} with (force)`);
    },
  };
}

export async function createDatabase(options?: { empty?: boolean; copyOf?: string }): Promise<TestDatabase> {
  const database = planDatabase();
  await database.create(options);
  return database;
}

/** Resets a copy of the template. Without `restores`, it keeps its plans and settings. */
export async function emptyDatabase({ db }: Pick<TestDatabase, 'db'>, options?: { restores: boolean }) {
  await resetDatabase(db, await (templateRows as Promise<TemplateRows>), options);
}

/** Returns the database's time, to the microsecond. */
export async function databaseNow(db: Database): Promise<string> {
  const { rows } = await sql<{ now: string }>`select now()::text as now`.execute(db);
  return (rows[0] as { now: string }).now;
}

/** Returns the URL of another database on the same server. */
export function databaseUrl(server: { url: string }, database: string): string {
  return server.url.replace(/^(postgresql:\/\/[^/]*\/)[^?]*/, `$1${database}`);
}

/** Returns the URL of the same database for another role. Test servers trust every client. */
export function asRole(url: string, role: string): string {
  return url.replace(/^(postgresql:\/\/)[^@]*@/, `$1${role}@`);
}

/** Returns the URL of a database for each role of a fleet. `url` itself is the owner's. */
export function urlsOf({ url }: TestDatabase): (role: string) => string {
  return (role) => (role === 'zonefleet_owner' ? url : asRole(url, role));
}

/** Returns the URL for a process role, with its privileges on the queue's tables. */
export async function openRole(url: string, role: ProcessRole): Promise<string> {
  await migrateQueue({ databaseUrl: url, redisUrl: undefined }, QUEUES);
  const db = openDatabase(url);
  try {
    await prepareRoles(db, PRIVILEGES_OF_FEATURES);
  } finally {
    await db.destroy();
  }
  return asRole(url, role);
}

export async function runOn(server: { url: string }, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
