// Who makes a change, as recorded in the change's log.

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
