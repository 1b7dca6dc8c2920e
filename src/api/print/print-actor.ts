// Who did something, as the logs of changes and of audit show it: which account is for everybody who reads the log, from where
// and with which key is not.

import type { Actor } from '../../store/accounts/actor.ts';

/** Who reads. */
export interface Viewer {
  readonly id: number;
  readonly isAdmin: boolean;
}

interface DoneBy {
  readonly actor: Actor;
  /** The actor is a global admin: customers are not told from where operators work. */
  readonly isByAdmin: boolean;
  /** The domain was another account's then: its people's addresses are not the present owner's to read. */
  readonly isFormer: boolean;
}

/** Whether somebody who may see addresses and keys in this log sees those of this actor. */
export function mayTrace({ actor, isByAdmin, isFormer }: DoneBy, viewer: Viewer): boolean {
  if (viewer.isAdmin || actor.accountId === viewer.id) return true;
  return !isByAdmin && !isFormer;
}

interface PrintedActor {
  kind: Actor['kind'];
  user_id?: number;
  key_id?: number;
  address?: string;
}

export function printActor({ kind, accountId, keyId, address }: Actor, isTraced: boolean): PrintedActor {
  return {
    kind,
    ...(accountId !== undefined && { user_id: accountId }),
    ...(isTraced && keyId !== undefined && { key_id: keyId }),
    ...(isTraced && address !== undefined && { address }),
  };
}
