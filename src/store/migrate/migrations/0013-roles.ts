// A node writes its own row of `nodes` and no other, whatever role it connects as: that of the name which its connection
// holds (`claimNodeName`). The owner of the table is not bound by it.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // A bigint lock stands in pg_locks in two halves, with objsubid 1; 1852793957 is 'node'. The search path is fixed, so
  // that no table of the caller's takes the place of pg_locks.
  `create function holds_node_name(node text) returns boolean
     language sql stable set search_path = pg_catalog, pg_temp as $$
     select exists (
       select from pg_locks l, (select hashtextextended(node, 1852793957) as key) k
       where l.pid = pg_backend_pid() and l.locktype = 'advisory' and l.objsubid = 1 and l.granted
         and l.database = (select oid from pg_database where datname = current_database())
         and l.classid = ((k.key >> 32) & 4294967295)::oid and l.objid = (k.key & 4294967295)::oid) $$`,
  'create policy nodes_read on nodes for select using (true)',
  'create policy nodes_insert_own on nodes for insert with check (holds_node_name(name))',
  `create policy nodes_update_own on nodes for update
     using (holds_node_name(name)) with check (holds_node_name(name))`,
  'alter table nodes enable row level security',
];
