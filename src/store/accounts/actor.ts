// The actor of a change, as recorded in the change log, and the role of an account in a domain.

import { type RawBuilder, sql } from 'kysely';
import type { ActorKind, ChangeSource } from '../postgres/tables/schema.ts';

export interface Actor {
  readonly kind: ActorKind;
  readonly accountId?: number;
  readonly keyId?: number;
  /** The address that the request came from. */
  readonly address?: string;
  /** The name of an actor without an account, such as the user of a shell. */
  readonly name?: string;
}

export interface ChangedBy {
  readonly by: Actor;
  readonly source: ChangeSource;
}

/** The calling account. A global admin has the role of owner in every domain. */
export interface Caller {
  readonly accountId: number;
  readonly isAdmin: boolean;
  /** A reseller has the role of admin in the domains of its clients. */
  readonly isReseller?: boolean;
}

/** Formats the actor for the change feed. */
export function printActor({ kind, accountId, keyId, name }: Actor): string {
  if (name !== undefined) return `${kind} ${name}`;
  if (keyId !== undefined) return `key ${keyId}`;
  return accountId === undefined ? kind : `${kind} ${accountId}`;
}

/** SQL condition: the owner of the domain is a client of this account. `domain` is the table of domains. */
export function isClients(domain: RawBuilder<unknown>, accountId: number): RawBuilder<unknown> {
  return sql`exists (select from accounts client where client.id = ${domain}.account_id and client.provider_id = ${accountId})`;
}

/**
 * SQL expression: the role of an account in a domain (owner, reseller of the owner, or a granted role), or null. A
 * global admin is an owner regardless of the result. If `isReseller` is false, the owner's account is not read.
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
