// Who makes a change, as its log keeps it.

import type { ActorKind, ChangeSource } from './schema.ts';

export interface Actor {
  readonly kind: ActorKind;
  readonly accountId?: number;
  readonly keyId?: number;
  /** Where the request came from. */
  readonly address?: string;
  /** Of somebody without an account, such as the shell's user. */
  readonly name?: string;
}

export interface ChangedBy {
  readonly by: Actor;
  readonly source: ChangeSource;
}

/** Who asks: a global admin is owner of every domain. */
export interface Caller {
  readonly accountId: number;
  readonly isAdmin: boolean;
}

/** The feed's word for an actor. */
export function printActor({ kind, accountId, keyId, name }: Actor): string {
  if (name !== undefined) return `${kind} ${name}`;
  if (keyId !== undefined) return `key ${keyId}`;
  return accountId === undefined ? kind : `${kind} ${accountId}`;
}
