// A database of its own for a test, made from the migrated template, and dropped behind it.

import { sql } from 'kysely';
import { Client } from 'pg';
import { inject } from 'vitest';
import { migrateQueue } from '../../../src/queue/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../../src/store/postgres/deadlines.ts';
import type { ProcessRole } from '../../../src/store/roles/role-privileges.ts';
import { prepareRoles } from '../../../src/store/roles/roles.ts';

export interface TestServer {
  name: string;
  url: string;
}

export interface TestDatabase {
  url: string;
  db: Database;
  /** Ends every connection and drops the database. */
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
export function testServer(): TestServer {
  return inject('postgresServer');
}

/** `empty` leaves out the schema. `copyOf` names a database that has no connections, and is copied instead of the template. */
export async function createDatabase(
  options: { empty?: boolean; copyOf?: string } = {},
): Promise<TestDatabase> {
  const server = testServer();
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const template = options.empty ? 'template0' : (options.copyOf ?? TEMPLATE_DATABASE);
  // takes half the time that a copy through the write-ahead log does, where nothing waits for the disk
  await runOn(server, `create database ${name} template ${template} strategy file_copy`);
  const url = databaseUrl(server, name);
  const db = openDatabase(url, { limits: OPERATOR_LIMITS }); // tests load whole tables at once, on machines that are busy
  return {
    url,
    db,
    async drop() {
      await db.destroy();
      await runOn(server, `drop database if exists ${name} with (force)`);
    },
  };
}

/** The time of its clock, to the microsecond. */
export async function databaseNow(db: Database): Promise<string> {
  const { rows } = await sql<{ now: string }>`select now()::text as now`.execute(db);
  return (rows[0] as { now: string }).now;
}

/** The URL of another database on the same server. */
export function databaseUrl(server: { url: string }, database: string): string {
  return server.url.replace(/^(postgresql:\/\/[^/]*\/)[^?]*/, `$1${database}`);
}

/** The same database as another role: the servers of tests trust every client. */
export function asRole(url: string, role: string): string {
  return url.replace(/^(postgresql:\/\/)[^@]*@/, `$1${role}@`);
}

/** The same as `role`, which has its rights in the queue's tables too. */
export async function openRole(url: string, role: ProcessRole): Promise<string> {
  await migrateQueue({ databaseUrl: url, redisUrl: undefined });
  const db = openDatabase(url);
  try {
    await prepareRoles(db);
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
