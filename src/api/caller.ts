// Who calls: an account, by one of its keys, and what that key was narrowed to.

import type { Name } from '../dns/name.ts';
import type { Account } from '../store/accounts.ts';
import type { Actor, Caller as StoreCaller } from '../store/actor.ts';
import type { ApiKey } from '../store/api-keys.ts';
import { judgeNarrowedWrite } from '../zone/key-narrowing.ts';
import { printWithoutDot } from '../zone/name-text.ts';
import { forbidden, type Problem } from './problem.ts';

export interface Caller {
  readonly account: Account;
  readonly key: ApiKey;
  readonly address: string;
}

/** Whom the store's loads ask about. */
export function asStoreCaller({ account }: Caller): StoreCaller {
  return { accountId: account.id, isAdmin: account.isAdmin };
}

/** Whom the log of changes names. */
export function asActor({ account, key, address }: Caller): Actor {
  return { kind: 'key', accountId: account.id, keyId: key.id, address };
}

type Narrowing = Pick<ApiKey, 'domains' | 'names' | 'types'>;

export function seesDomain({ domains }: Narrowing, domain: Name): boolean {
  return domains === null || domains.includes(printWithoutDot(domain));
}

/** A key that may write some records only: it may write nothing else. */
export function writesRecordsOnly({ names, types }: Narrowing): boolean {
  return names !== null || types !== null;
}

/** For every record that a call writes, before and after: 403 when one is outside of what the key is for. */
export function judgeNarrowing(
  narrowing: Narrowing,
  records: Iterable<{ readonly name: Name; readonly type: string }>,
): Problem | undefined {
  const outside = judgeNarrowedWrite(narrowing, records);
  return outside === undefined ? undefined : forbidden(outside);
}
