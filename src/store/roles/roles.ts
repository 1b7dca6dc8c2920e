// The database roles of the processes: creates missing ones, and grants each exactly the privileges in
// role-privileges.ts. Roles belong to the whole server, so several databases may create them concurrently. Grants
// belong to one database.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import {
  CORE_PRIVILEGES,
  OWNER_ROLE,
  PROCESS_ROLES,
  type Privileges,
  type ProcessRole,
  privilegesOf,
  QUEUE_ROLES,
  QUEUE_SCHEMA_NAME,
  unite,
} from './role-privileges.ts';

type AllPrivileges = Required<Privileges>;

export interface PreparedRoles {
  readonly made: readonly string[];
  /** Roles that the migrating role may not create. An administrator must run `rolesSql()`. */
  readonly missing: readonly string[];
  /** Roles with more rights than a process should have, such as superusers. */
  readonly overpowered: readonly string[];
}

const ROLES_LOCK = 0x726f6c65; // 'role'
const ATTRIBUTES = 'login nosuperuser nocreatedb nocreaterole noreplication nobypassrls';

/** Returns SQL that an administrator runs if `migrate` may not create roles. It may be run again. */
export function rolesSql(): string {
  return PROCESS_ROLES.map((role) => `${createRole(role)};\n`).join('');
}

/** Creates a role. Another database of the server may be creating it concurrently. */
function createRole(role: string): string {
  return `do $$ begin create role ${role} ${ATTRIBUTES};
exception when duplicate_object or unique_violation then null; end $$`;
}

/** Creates the missing roles and grants their privileges. Concurrent calls wait for each other. */
export async function prepareRoles(db: Database, ofFeatures: readonly Privileges[]): Promise<PreparedRoles> {
  const privileges = unite([CORE_PRIVILEGES, ...ofFeatures]);
  const self = await loadSelf(db, privileges);
  const wanted = self.isSuperuser ? [...PROCESS_ROLES, OWNER_ROLE] : [...PROCESS_ROLES];
  const before = await loadRoles(db);
  const lacking = wanted.filter((role) => !before.has(role));
  const made = self.mayMakeRoles ? lacking : [];
  for (const role of made) await sql.raw(createRole(role)).execute(db);
  const present = await loadRoles(db);
  // Only the owner of the tables may grant. If this is another role, it has granted them, or will.
  if (self.isOwner) {
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${ROLES_LOCK})`.execute(trx);
      if (self.isSuperuser) await giveToOwner(trx, privileges);
      await grantAll(
        trx,
        privileges,
        PROCESS_ROLES.filter((role) => present.has(role)),
      );
    });
  }
  return {
    made,
    missing: wanted.filter((role) => !present.has(role)),
    overpowered: wanted.filter((role) => present.get(role)?.isOverpowered),
  };
}

interface Self {
  readonly isSuperuser: boolean;
  readonly mayMakeRoles: boolean;
  readonly isOwner: boolean;
}

async function loadSelf(db: Database, { tables }: AllPrivileges): Promise<Self> {
  const { rows } = await sql<Self>`
    select r.rolsuper as "isSuperuser", r.rolsuper or r.rolcreaterole as "mayMakeRoles",
      (select bool_and(pg_has_role(c.relowner, 'USAGE')) from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
          and c.relname = any(${Object.keys(tables)}::text[])) as "isOwner"
    from pg_roles r where r.rolname = current_user`.execute(db);
  return rows[0] as Self;
}

async function loadRoles(db: Database): Promise<Map<string, { readonly isOverpowered: boolean }>> {
  const { rows } = await sql<{ name: string; isOverpowered: boolean }>`
    select rolname as name, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as "isOverpowered"
    from pg_roles where rolname = any(${[...PROCESS_ROLES, OWNER_ROLE]}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.name, row]));
}

/** Changes only owners that differ, because a change of owner waits for every user of the table. */
async function giveToOwner(trx: Database, privileges: AllPrivileges): Promise<void> {
  const relations = [...Object.keys(privileges.tables), ...Object.keys(privileges.sequences)];
  const functions = [
    'check_records',
    'holds_node_name',
    ...Object.keys(privileges.functions).map((name) => name.replace(/\(.*/, '')),
  ];
  const { rows } = await sql<{ statement: string }>`
    with wanted as (select ${OWNER_ROLE}::regrole::oid as owner)
    select format('alter schema %I owner to %I', nspname, ${OWNER_ROLE}::text) as statement
      from pg_namespace, wanted where nspname = ${QUEUE_SCHEMA_NAME} and nspowner <> wanted.owner
    union all
    select format('alter %s %s owner to %I', case relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end,
        c.oid::regclass, ${OWNER_ROLE}::text)
      from pg_class c, wanted
      where c.relowner <> wanted.owner and relkind in ('r', 'p', 'v', 'S')
        and (relnamespace::regnamespace::text = ${QUEUE_SCHEMA_NAME}
          or relnamespace = 'public'::regnamespace and relname = any(${relations}::text[]))
        -- A column's own sequence changes with its table.
        and not (relkind = 'S' and exists (select from pg_depend d where d.classid = 'pg_class'::regclass
          and d.objid = c.oid and d.deptype in ('a', 'i')))
    union all
    select format('alter function %s owner to %I', p.oid::regprocedure, ${OWNER_ROLE}::text)
      from pg_proc p, wanted
      where p.proowner <> wanted.owner and (pronamespace::regnamespace::text = ${QUEUE_SCHEMA_NAME}
        or pronamespace = 'public'::regnamespace and proname = any(${functions}::text[]))
    union all
    select format('alter type %s owner to %I', t.oid::regtype, ${OWNER_ROLE}::text)
      from pg_type t, wanted
      where t.typowner <> wanted.owner and typtype in ('e', 'd') and typnamespace::regnamespace::text = ${QUEUE_SCHEMA_NAME}
    `.execute(trx);
  for (const { statement } of rows) await sql.raw(statement).execute(trx);
  const { rows: named } = await sql<{ database: string }>`
    select format('%I', current_database()) as database`.execute(trx);
  const database = named[0]?.database;
  await sql.raw(`grant usage, create on schema public to ${OWNER_ROLE}`).execute(trx);
  await sql.raw(`grant connect, create, temporary on database ${database} to ${OWNER_ROLE}`).execute(trx);
  await sql.raw('revoke create on schema public from public').execute(trx);
}

/** Grants everything in one transaction, so that no process loses its privileges temporarily. */
async function grantAll(
  trx: Database,
  { tables, columns, sequences, functions }: AllPrivileges,
  roles: readonly ProcessRole[],
): Promise<void> {
  if (roles.length === 0) return;
  const statements: string[] = [];
  const present = await loadTables(trx, Object.keys(tables));
  for (const [table, granted] of Object.entries(tables)) {
    if (!present.has(table)) continue;
    statements.push(`revoke all on table ${table} from ${roles.join(', ')}`);
    for (const role of roles) {
      const privileges = privilegesOf(role, granted);
      if (privileges !== undefined) statements.push(`grant ${privileges} on table ${table} to ${role}`);
    }
  }
  for (const { table, role, may, columns: names } of columns) {
    if (!present.has(table) || !roles.includes(role)) continue;
    const granted = may.map((privilege) => `${privilege} (${names.join(', ')})`);
    statements.push(`grant ${granted.join(', ')} on table ${table} to ${role}`);
  }
  // `select` too, because the last number drawn shows up to where the change log is complete.
  for (const [sequence, users] of Object.entries(sequences)) {
    statements.push(`revoke all on sequence ${sequence} from ${roles.join(', ')}`);
    for (const role of users.filter((user) => roles.includes(user)))
      statements.push(`grant usage, select on sequence ${sequence} to ${role}`);
  }
  for (const name of await loadFunctions(trx, Object.keys(functions))) {
    statements.push(`revoke all on function ${name} from public, ${roles.join(', ')}`);
    for (const role of functions[name]?.filter((user) => roles.includes(user)) ?? [])
      statements.push(`grant execute on function ${name} to ${role}`);
  }
  const users = QUEUE_ROLES.filter((role) => roles.includes(role)).join(', ');
  if (users !== '' && (await hasQueue(trx))) {
    statements.push(
      `grant usage on schema ${QUEUE_SCHEMA_NAME} to ${users}`,
      `grant select, insert, update, delete on all tables in schema ${QUEUE_SCHEMA_NAME} to ${users}`,
      `grant usage on all sequences in schema ${QUEUE_SCHEMA_NAME} to ${users}`,
      `grant execute on all functions in schema ${QUEUE_SCHEMA_NAME} to ${users}`,
    );
  }
  for (const statement of statements) await sql.raw(statement).execute(trx);
}

/** Returns those of the tables that exist. A database with an older schema lacks some. */
async function loadTables(db: Database, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and relname = any(${names}::text[])`.execute(
    db,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Returns those of the functions that exist. */
async function loadFunctions(db: Database, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select w.name from unnest(${names}::text[]) w (name)
    where to_regprocedure('public.' || w.name) is not null`.execute(db);
  return rows.map(({ name }) => name);
}

/** True if BullMQ's tables exist and this role may grant privileges on them. */
async function hasQueue(db: Database): Promise<boolean> {
  const { rows } = await sql<{ present: boolean }>`
    select exists (select from pg_namespace where nspname = ${QUEUE_SCHEMA_NAME}
      and pg_has_role(nspowner, 'USAGE')) as present`.execute(db);
  return rows[0]?.present === true;
}

/** Sets passwords of ASCII letters, digits and signs. Requires a superuser, or the role that created the roles. */
export async function setRolePasswords(
  db: Database,
  passwords: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [role, password] of Object.entries(passwords)) {
    // A verifier contains no quote.
    await alterRole(db, `alter role ${role} login password '${scramVerifier(password)}'`);
  }
}

/** Alters a role, with retries: if another database changes the same row of the server's catalogue, Postgres fails. */
async function alterRole(db: Database, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await sql.raw(statement).execute(db);
      return;
    } catch (error) {
      const { message } = error as Error;
      if (attempt === 10 || !message.includes('tuple concurrently updated')) throw error;
    }
  }
}

const ITERATIONS = 4096; // the default of Postgres

/**
 * Returns a password as Postgres stores it (RFC 5802 §3, RFC 7677), so that the server, its log and its statistics
 * never see the password itself. Passwords must consist of ASCII letters, digits and signs, which do not need SASLprep.
 */
export function scramVerifier(password: string, salt: Uint8Array = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
}
