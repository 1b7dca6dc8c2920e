// A database of its own for a test: a copy of the migrated template, or one that an earlier test of the file has given back.

import { sql } from 'kysely';
import { Client } from 'pg';
import { expect, inject } from 'vitest';
import { migrateQueue } from '../../../src/queue/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../../src/store/postgres/deadlines.ts';
import type { ProcessRole } from '../../../src/store/roles/role-privileges.ts';
import { prepareRoles } from '../../../src/store/roles/roles.ts';
import { isReusable, readTemplateState, resetDatabase, type TemplateState } from './reset-database.ts';

export interface TestServer {
  name: string;
  url: string;
}

export interface TestDatabase {
  url: string;
  db: Database;
  /** Gives the database back. Its content is lost. */
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

interface Kept {
  readonly name: string;
  readonly url: string;
  readonly db: Database;
  readonly file: string | undefined;
}

/** Databases that tests of one file have given back. */
const kept: Kept[] = [];
let templateState: Promise<TemplateState> | undefined;

/** `empty` leaves out the schema. `copyOf` names a database that has no connections, and is copied instead of the template. */
export async function createDatabase(
  options: { empty?: boolean; copyOf?: string } = {},
): Promise<TestDatabase> {
  const isPlain = !options.empty && options.copyOf === undefined;
  const file = expect.getState().testPath;
  while (isPlain && kept.length > 0) {
    const one = kept.pop() as Kept;
    if (one.file !== file) await dropDatabase(one);
    else {
      await resetDatabase(one.db, await (templateState as Promise<TemplateState>));
      return handOut(one);
    }
  }
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const template = options.empty ? 'template0' : (options.copyOf ?? TEMPLATE_DATABASE);
  // A file copy takes half the time of a copy through the write-ahead log if nothing waits for the disk.
  await runOn(testServer(), `create database ${name} template ${template} strategy file_copy`);
  const url = databaseUrl(testServer(), name);
  // Tests load whole tables, on machines that are busy.
  const one = { name, url, db: openDatabase(url, { limits: OPERATOR_LIMITS }), file };
  if (isPlain) {
    templateState ??= readTemplateState(one.db);
    await templateState;
  }
  return handOut(one, isPlain);
}

function handOut(one: Kept, isPlain = true): TestDatabase {
  return {
    url: one.url,
    db: one.db,
    async drop() {
      const isKept =
        isPlain &&
        (await isReusable(one.db, await (templateState as Promise<TemplateState>)).catch(() => false));
      if (isKept) kept.push(one);
      else await dropDatabase(one);
    },
  };
}

/** Returns a copy of the template to the template's state. Ids are not used again. */
export async function emptyDatabase({ db }: Pick<TestDatabase, 'db'>): Promise<void> {
  await resetDatabase(db, await (templateState as Promise<TemplateState>), { keepsIds: true });
}

async function dropDatabase({ db, name }: Kept): Promise<void> {
  await db.destroy();
  await runOn(testServer(), `drop database if exists ${name} with (force)`);
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
