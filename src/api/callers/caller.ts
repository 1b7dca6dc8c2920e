// The caller: an account, the API key or session that it presents, the restrictions of the key, and the permissions
// of each role (docs/rules.md "Access").

import type { Name } from '../../dns/name.ts';
import type { Account } from '../../store/accounts/accounts.ts';
import type { Actor, Caller } from '../../store/accounts/actor.ts';
import type { ApiKey } from '../../store/accounts/api-keys.ts';
import type { Session } from '../../store/people/sessions.ts';
import type { Role } from '../../store/postgres/tables/schema.ts';
import { parseDomainName } from '../../zone/domain/domain-name.ts';
import { judgeNarrowedWrite } from '../../zone/edit/key-narrowing.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { forbidden, type Problem } from '../answers/problem.ts';

export const PERMISSIONS = [
  'domain.view',
  'domain.settings',
  'domain.delete',
  'dnssec.keys',
  'records.edit',
  'rules.edit',
  'cache.edit',
  'ssl.manage',
  'analytics.view',
  'billing',
  'members.manage',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const ROLES = ['owner', 'admin', 'editor', 'viewer'] as const satisfies readonly Role[];

const VIEWER: readonly Permission[] = ['domain.view', 'analytics.view'];
const EDITOR: readonly Permission[] = [...VIEWER, 'records.edit', 'rules.edit', 'cache.edit'];
const ADMIN: readonly Permission[] = [...EDITOR, 'domain.settings', 'ssl.manage', 'members.manage'];

const GRANTED: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  viewer: new Set(VIEWER),
  editor: new Set(EDITOR),
  admin: new Set(ADMIN),
  owner: new Set(PERMISSIONS),
};

export function mayDo(role: Role, permission: Permission): boolean {
  return GRANTED[role].has(permission);
}

/** Returns the permissions in the order of `PERMISSIONS`. */
export function permissionsOf(role: Role): Permission[] {
  return PERMISSIONS.filter((permission) => GRANTED[role].has(permission));
}

export interface ApiCaller {
  readonly account: Account;
  readonly credential: Credential;
  /** The restrictions of the credential. */
  readonly key: KeyScope;
  readonly address: string;
  /** Undefined if there is no limit. */
  readonly rate?: Rate;
}

/** The limit of requests per minute, and the number that the caller may still send. */
interface Rate {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export type Credential =
  | { readonly kind: 'key'; readonly id: number; readonly expiresAt: Date | null }
  /** A machine token of a reseller. */
  | { readonly kind: 'token'; readonly id: number; readonly expiresAt: Date | null }
  | {
      readonly kind: 'session';
      readonly session: Session;
      /** Time of the database when the session was looked up. */
      readonly now: Date;
    };

type KeyScope = Pick<ApiKey, 'readOnly' | 'domains' | 'names' | 'types'>;

/** Sessions and tokens have no restrictions. */
export const WHOLE_SCOPE: KeyScope = { readOnly: false, domains: null, names: null, types: null };

/** Returns the caller in the form that loads of the store accept. */
export function asStoreCaller({ account }: ApiCaller): Caller {
  return { accountId: account.id, isAdmin: account.isAdmin, isReseller: account.isReseller };
}

/** Returns the caller in the form that the log of changes accepts. */
export function asActor({ account, credential, address }: ApiCaller): Actor {
  const who = { accountId: account.id, address };
  return credential.kind === 'session'
    ? { kind: 'session', ...who }
    : { kind: credential.kind, ...who, keyId: credential.id };
}

type Narrowing = Pick<ApiKey, 'domains' | 'names' | 'types'>;

export function seesDomain({ domains }: Narrowing, domain: Name): boolean {
  return domains === null || domains.includes(printWithoutDot(domain));
}

/** Returns the domains to which the key is restricted. Returns undefined if it is not restricted. */
export function domainNamesOf({ domains }: Narrowing): Name[] | undefined {
  return domains?.flatMap((text) => {
    const parsed = parseDomainName(text);
    return parsed.kind === 'name' ? [parsed.name] : [];
  });
}

/** Returns true if the key may write only certain records, and nothing else. */
export function writesRecordsOnly({ names, types }: Narrowing): boolean {
  return names !== null || types !== null;
}

/**
 * Checks every record that a call writes, before and after the change. Returns a 403 if the key does not cover one.
 */
export function judgeNarrowing(
  narrowing: Narrowing,
  records: Iterable<{ readonly name: Name; readonly type: string }>,
): Problem | undefined {
  const outside = judgeNarrowedWrite(narrowing, records);
  return outside === undefined ? undefined : forbidden(outside);
}

/** Returns null for a proxy on this machine, because its address does not show where the client is. */
export function outsideAddress(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return /^127\.|^::1$/.test(plain) ? null : plain;
}
