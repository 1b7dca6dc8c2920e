// Prints accounts and API keys (without their secrets), and the actor of a change or an audit row. Every reader of a
// log sees the account that acted, but not always its address or key.

import type { z } from 'zod';
import type { ListedAccount } from '../../store/accounts/account-lists.ts';
import type { Actor } from '../../store/accounts/actor.ts';
import type { ApiKey } from '../../store/accounts/api-keys.ts';
import type { AdminAccount } from '../schemas/admin/account.ts';
import type { Key } from '../schemas/people.ts';

export function printAccount(account: ListedAccount): z.input<typeof AdminAccount> {
  const { id, email, name, providerId, planSlug } = account;
  return {
    id,
    email,
    email_confirmed: account.isEmailConfirmed,
    ...(name !== null && { name }),
    admin: account.isAdmin,
    reseller: account.isReseller,
    ...(providerId !== null && { provider: providerId }),
    active: account.active,
    ...(planSlug !== null && { plan: planSlug }),
    password_set: account.hasPassword,
    otp: account.hasTotp,
    domains: account.domains,
    created_at: account.createdAt.toISOString(),
  };
}

export function printKey({
  id,
  name,
  prefix,
  readOnly,
  domains,
  names,
  types,
  ...times
}: ApiKey): z.input<typeof Key> {
  const { expiresAt, lastUsedAt, createdAt } = times;
  return {
    id,
    name,
    prefix,
    read_only: readOnly,
    ...(domains !== null && { domains: [...domains] }),
    ...(names !== null && { names: [...names] }),
    ...(types !== null && { types: [...types] }),
    ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
    ...(lastUsedAt !== null && { last_used_at: lastUsedAt.toISOString() }),
    created_at: createdAt.toISOString(),
  };
}

/** The reader of a log. */
export interface Viewer {
  readonly id: number;
  readonly isAdmin: boolean;
}

interface DoneBy {
  readonly actor: Actor;
  /** True if the actor is a global admin. Customers do not see the addresses of operators. */
  readonly isByAdmin: boolean;
  /** True if the domain then belonged to another account, whose addresses its present owner must not see. */
  readonly isFormer: boolean;
}

/** Returns true if a viewer who may see addresses and keys in this log may see those of this actor. */
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
