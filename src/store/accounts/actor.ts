// Who makes a change, as the log of changes records it, and the role that an account has in a domain.

import { type RawBuilder, sql } from 'kysely';
import type { ActorKind, ChangeSource } from '../postgres/tables/schema.ts';

export interface Actor {
  readonly kind: ActorKind;
  readonly accountId?: number;
  readonly keyId?: number;
  /** Where the request came from. */
  readonly address?: string;
  /** The name of an actor without an account, such as the shell's user. */
  readonly name?: string;
}

export interface ChangedBy {
  readonly by: Actor;
  readonly source: ChangeSource;
}

/** The account that calls: a global admin is an owner of every domain. */
export interface Caller {
  readonly accountId: number;
  readonly isAdmin: boolean;
  /** A reseller has the role of admin in the domains of its clients. */
  readonly isReseller?: boolean;
}

/** The actor as the feed prints it. */
export function printActor({ kind, accountId, keyId, name }: Actor): string {
  if (name !== undefined) return `${kind} ${name}`;
  if (keyId !== undefined) return `key ${keyId}`;
  return accountId === undefined ? kind : `${kind} ${accountId}`;
}

/** Whether the account that has the domain is a client of this one. `domain`: the domain's table. */
export function isClients(domain: RawBuilder<unknown>, accountId: number): RawBuilder<unknown> {
  return sql`exists (select from accounts client where client.id = ${domain}.account_id and client.provider_id = ${accountId})`;
}

/**
 * Role of an account in a domain: owner, reseller of the owner, or a granted role. A global administrator is an owner
 * in addition to what this returns. Null if it has none. If `isReseller` is false, the owner's account is not read.
 */
export function roleIn(
  domain: RawBuilder<unknown>,
  { accountId, isReseller = false }: { readonly accountId: number; readonly isReseller?: boolean },
): RawBuilder<unknown> {
  const managed = isReseller ? sql`when ${isClients(domain, accountId)} then 'admin'` : sql``;
  return sql`case when ${domain}.account_id = ${accountId} then 'owner' ${managed} else (
    select granted.role from memberships granted
    where granted.domain_id = ${domain}.id and granted.account_id = ${accountId}) end`;
}
