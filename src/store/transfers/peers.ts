// Peers: servers of other operators. The operator's have a name and are listed in policies and secondaries. Those of a
// domain belong to it alone: its secondaries have a flag, its primaries have none.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { lockDomainKeys, type UnusableKeys } from './keys.ts';
import { DNS_OVER_TLS_PORT, type PeerTls, type PeerTlsMode, WITHOUT_TLS } from './peer-tls.ts';

interface PeerAddresses {
  /** Addresses to which the fleet sends. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Networks from which the peer may transfer, in CIDR notation. Empty for any source. */
  readonly networks: readonly string[];
  readonly keyId: number | null;
}

export interface Peer extends PeerAddresses {
  readonly id: number;
  readonly name: string;
  readonly keyName: string | null;
  readonly isKeyRevoked: boolean;
  /** Names of the policies that list the peer. */
  readonly policies: readonly string[];
  /** Number of zones of which the peer is a primary. */
  readonly primaryOf: number;
  readonly tls: PeerTls;
}

const ADDRESSES = sql.raw(`
  (select coalesce(array_agg(host(a)::text order by place), '{}') from unnest(p.addresses) with ordinality u (a, place)) as addresses,
  p.port, p.networks::text[] as networks, p.key_id as "keyId", k.name as "keyName",
  k.revoked_at is not null as "isKeyRevoked"`);

/** Returns undefined if a peer has this name. */
export async function addPeer(
  trx: Database,
  peer: PeerAddresses & { readonly name: string; readonly tls?: PeerTls },
): Promise<number | undefined> {
  const { name, addresses, port, networks, keyId, tls = WITHOUT_TLS } = peer;
  const { rows } = await sql<{ id: number }>`
    insert into peers (name, addresses, port, networks, key_id, tls, tls_port, tls_name, tls_pins)
    values (${name}, ${[...addresses]}::inet[], ${port}, ${[...networks]}::cidr[], ${keyId},
      ${tls.mode}, ${tls.port}, ${tls.name}, ${[...tls.pins]}::bytea[])
    on conflict do nothing returning id`.execute(trx);
  return rows[0]?.id;
}

type PeerRow = Omit<Peer, 'tls'> & {
  readonly tls: PeerTlsMode;
  readonly tlsPort: number;
  readonly tlsName: string | null;
  readonly tlsPins: readonly Buffer[];
};

/** Lists the operator's peers by name, or only the named one. */
export async function listPeers(db: Database, name?: string): Promise<Peer[]> {
  const { rows } = await sql<PeerRow>`
    select p.id, p.name, ${ADDRESSES}, p.tls, p.tls_port as "tlsPort", p.tls_name as "tlsName", p.tls_pins as "tlsPins",
      array(select t.name from policy_peers l join transfer_policies t on t.id = l.policy_id
        where l.peer_id = p.id order by t.name) as policies,
      (select count(*)::integer from secondaries s where p.id = any(s.peers)) as "primaryOf"
    from peers p left join tsig_keys k on k.id = p.key_id
    where p.name is not null and (${name ?? null}::text is null or p.name = ${name ?? null})
    order by p.name`.execute(db);
  return rows.map(({ tls: mode, tlsPort: port, tlsName: name, tlsPins: pins, ...rest }) => ({
    ...rest,
    tls: { mode, port, name, pins },
  }));
}

type SetPeer =
  | { readonly kind: 'set'; readonly before: Peer; readonly networks: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'absent' };

/** Replaces the TLS settings of a peer. A strict one without networks gets those of its addresses. */
export async function setPeerTls(trx: Database, name: string, tls: PeerTls): Promise<SetPeer> {
  await sql`select from peers where name = ${name} for update`.execute(trx);
  const [before] = await listPeers(trx, name);
  if (before === undefined) return { kind: 'absent' };
  const isStrict = tls.mode === 'strict';
  if (tls.mode !== 'off' && before.port === DNS_OVER_TLS_PORT)
    return { kind: 'refused', why: `it receives NOTIFY at port ${before.port}, which is that of TLS` };
  if (isStrict && before.addresses.length === 0 && before.networks.length === 0)
    return { kind: 'refused', why: 'it has neither an address nor a network' };
  if (isStrict && before.primaryOf > 0 && tls.name === null && tls.pins.length === 0)
    return { kind: 'refused', why: 'zones are copied from it, so it needs --tls-name or --tls-pin' };
  const { rows } = await sql<{ networks: string[] }>`
    update peers set tls = ${tls.mode}, tls_port = ${tls.port}, tls_name = ${tls.name},
      tls_pins = ${[...tls.pins]}::bytea[],
      networks = case when ${isStrict} and cardinality(networks) = 0 then addresses::cidr[] else networks end
    where id = ${before.id} returning networks::text[]`.execute(trx);
  return { kind: 'set', before, networks: rows[0]?.networks ?? [] };
}

type RemovedPeer =
  | { readonly kind: 'removed'; readonly peer: Peer }
  | { readonly kind: 'in_use'; readonly peer: Peer }
  | { readonly kind: 'absent' };

/** Removes a peer that no policy lists and that is the primary of no zone. */
export async function removePeer(trx: Database, name: string): Promise<RemovedPeer> {
  // `addSecondary` locks the primaries that it lists `for share`, because the list has no foreign key.
  await sql`select from peers where name = ${name} for update`.execute(trx);
  const [peer] = await listPeers(trx, name);
  if (peer === undefined) return { kind: 'absent' };
  if (peer.policies.length > 0 || peer.primaryOf > 0) return { kind: 'in_use', peer };
  await sql`delete from peers where id = ${peer.id}`.execute(trx);
  return { kind: 'removed', peer };
}

/** A secondary of a domain. */
interface Secondary extends PeerAddresses {
  readonly transfers: boolean;
  readonly notified: boolean;
}

export interface StoredSecondary extends Secondary {
  readonly id: number;
  readonly keyName: string | null;
  readonly isKeyRevoked: boolean;
}

const IS_SECONDARY = sql.raw('(p.transfers or p.notified)');

/** Lists the secondaries of a domain, in the order in which they were added. */
export async function listSecondaries(db: Database, domainId: number): Promise<StoredSecondary[]> {
  const { rows } = await sql<StoredSecondary>`
    select p.id, ${ADDRESSES}, p.transfers, p.notified
    from peers p left join tsig_keys k on k.id = p.key_id
    where p.domain_id = ${domainId} and ${IS_SECONDARY} order by p.id`.execute(db);
  return rows;
}

/** Replaces the secondaries of a domain. Unchanged ones keep their id and their reports. */
export async function replaceSecondaries(
  trx: Database,
  domain: { readonly id: number; readonly accountId: number },
  wanted: readonly Secondary[],
): Promise<{ readonly kind: 'replaced' } | UnusableKeys> {
  const unusable = await lockDomainKeys(
    trx,
    domain,
    wanted.map(({ keyId }) => keyId),
  );
  if (unusable !== undefined) return unusable;
  const removed = new Map((await listSecondaries(trx, domain.id)).map((each) => [identityOf(each), each.id]));
  const added = new Map(wanted.map((each) => [identityOf(each), each]));
  for (const identity of [...removed.keys()]) if (added.delete(identity)) removed.delete(identity);
  if (removed.size > 0)
    await sql`delete from peers where id = any(${[...removed.values()]}::bigint[])`.execute(trx);
  for (const { addresses, port, networks, keyId, transfers, notified } of added.values())
    await sql`
      insert into peers (domain_id, addresses, port, networks, key_id, transfers, notified)
      values (${domain.id}, ${[...addresses]}::inet[], ${port}, ${[...networks]}::cidr[], ${keyId}, ${transfers},
        ${notified})`.execute(trx);
  return { kind: 'replaced' };
}

function identityOf({ addresses, port, networks, keyId, transfers, notified }: Secondary): string {
  return JSON.stringify([addresses, port, networks, keyId, transfers, notified]);
}
