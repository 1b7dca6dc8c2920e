// Transfer policies of the operator: lists of peers that may transfer zones and receive NOTIFY. The policy named `default`
// applies to zones that have none of their own.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export const DEFAULT_POLICY = 'default';

/** A policy, with the names of its peers. */
export interface Policy {
  readonly name: string;
  readonly transfers: readonly string[];
  readonly notified: readonly string[];
  /** Number of zones that have this policy as their own. */
  readonly zones: number;
}

/** Lists the policies by name, or only the named one. */
export async function listPolicies(db: Database, name?: string): Promise<Policy[]> {
  const peers = (column: string) =>
    sql.raw(`array(
    select p.name from policy_peers l join peers p on p.id = l.peer_id
    where l.policy_id = t.id and l.${column} order by p.name)`);
  const { rows } = await sql<Policy>`
    select t.name, ${peers('transfers')} as transfers, ${peers('notified')} as notified,
      (select count(*)::integer from zones z where z.policy_id = t.id and z.deleted_at is null) as zones
    from transfer_policies t where ${name ?? null}::text is null or t.name = ${name ?? null}
    order by t.name`.execute(db);
  return rows;
}

type SetPolicy =
  | { readonly kind: 'set'; readonly before: Policy | undefined; readonly policy: Policy }
  | { readonly kind: 'absent_peers'; readonly names: readonly string[] }
  /** These peers have the imported key of a primary, with which no peer can sign. */
  | { readonly kind: 'imported_keys'; readonly names: readonly string[] };

/** Creates a policy, or replaces its peers. */
export async function setPolicy(
  trx: Database,
  { name, transfers, notified }: Pick<Policy, 'name' | 'transfers' | 'notified'>,
): Promise<SetPolicy> {
  const names = [...new Set([...transfers, ...notified])];
  const { rows: found } = await sql<{ id: number; name: string; isImported: boolean }>`
    select p.id, p.name, exists (select from tsig_keys k where k.id = p.key_id and k.use = 'fetch') as "isImported"
    from peers p where p.name = any(${names}) order by p.id for share`.execute(trx);
  const absent = names.filter((each) => !found.some((peer) => peer.name === each));
  if (absent.length > 0) return { kind: 'absent_peers', names: absent };
  const imported = found.filter((peer) => peer.isImported && transfers.includes(peer.name));
  if (imported.length > 0) return { kind: 'imported_keys', names: imported.map((peer) => peer.name) };
  const [before] = await listPolicies(trx, name);
  const { rows } = await sql<{ id: number }>`
    insert into transfer_policies (name, is_default) values (${name}, ${name === DEFAULT_POLICY})
    on conflict (name) do update set name = excluded.name returning id`.execute(trx);
  const { id } = rows[0] as { id: number };
  await sql`delete from policy_peers where policy_id = ${id}`.execute(trx);
  for (const peer of found)
    await sql`
      insert into policy_peers (policy_id, peer_id, transfers, notified)
      values (${id}, ${peer.id}, ${transfers.includes(peer.name)}, ${notified.includes(peer.name)})`.execute(
      trx,
    );
  const [policy] = await listPolicies(trx, name);
  return { kind: 'set', before, policy: policy as Policy };
}

type RemovedPolicy =
  | { readonly kind: 'removed'; readonly policy: Policy }
  | { readonly kind: 'in_use'; readonly policy: Policy }
  | { readonly kind: 'absent' };

/** Removes a policy that no zone has as its own. */
export async function removePolicy(trx: Database, name: string): Promise<RemovedPolicy> {
  await sql`select from transfer_policies where name = ${name} for update`.execute(trx);
  const [policy] = await listPolicies(trx, name);
  if (policy === undefined) return { kind: 'absent' };
  if (policy.zones > 0) return { kind: 'in_use', policy };
  // A deleted zone that is loaded again has the default policy.
  await sql`
    update zones set policy_id = null
    where policy_id = (select id from transfer_policies where name = ${name})`.execute(trx);
  await sql`delete from transfer_policies where name = ${name}`.execute(trx);
  return { kind: 'removed', policy };
}

type ZonePolicies =
  /** The names of the zones that exist. */
  { readonly kind: 'set'; readonly zones: readonly string[] } | { readonly kind: 'absent' };

/** Gives zones a policy, or the default one (undefined). Zones that do not exist are skipped. */
export async function setZonePolicies(
  trx: Database,
  names: readonly string[],
  policy: string | undefined,
): Promise<ZonePolicies> {
  const { rows: policies } = await sql<{ id: number }>`
    select id from transfer_policies where name = ${policy ?? null} for share`.execute(trx);
  if (policy !== undefined && policies.length === 0) return { kind: 'absent' };
  const { rows } = await sql<{ name: string }>`
    with locked as (
      select id from zones where name = any(${[...names]}) and deleted_at is null order by name for no key update)
    update zones z set policy_id = ${policies[0]?.id ?? null} from locked l where z.id = l.id returning z.name`.execute(
    trx,
  );
  return { kind: 'set', zones: rows.map(({ name }) => name) };
}

/**
 * Orders that nodes send NOTIFY for zones again. Returns the names of the zones that exist. Nodes read `notify_orders` of
 * the last minute every few seconds, and skip the ids that they know.
 */
export async function orderNotify(trx: Database, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with wanted as (select id, name from zones where name = any(${[...names]}) and deleted_at is null),
    ordered as (insert into notify_orders (zone_id) select id from wanted)
    select name from wanted`.execute(trx);
  return rows.map(({ name }) => name);
}
