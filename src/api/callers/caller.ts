// The caller: an account, one of its keys, and what that key is narrowed to.

import type { Name } from '../../dns/name.ts';
import type { Account } from '../../store/accounts/accounts.ts';
import type { Actor, Caller } from '../../store/accounts/actor.ts';
import type { ApiKey } from '../../store/accounts/api-keys.ts';
import { judgeNarrowedWrite } from '../../zone/edit/key-narrowing.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { forbidden, type Problem } from '../answers/problem.ts';

export interface ApiCaller {
  readonly account: Account;
  readonly key: ApiKey;
  readonly address: string;
}

/** The caller in the form that the store's loads take. */
export function asStoreCaller({ account }: ApiCaller): Caller {
  return { accountId: account.id, isAdmin: account.isAdmin };
}

/** The caller in the form that the log of changes takes. */
export function asActor({ account, key, address }: ApiCaller): Actor {
  return { kind: 'key', accountId: account.id, keyId: key.id, address };
}

type Narrowing = Pick<ApiKey, 'domains' | 'names' | 'types'>;

export function seesDomain({ domains }: Narrowing, domain: Name): boolean {
  return domains === null || domains.includes(printWithoutDot(domain));
}

/** The key may write only some records, and nothing else. */
export function writesRecordsOnly({ names, types }: Narrowing): boolean {
  return names !== null || types !== null;
}

/** Judges every record that a call writes, before and after: 403 when the key does not cover it. */
export function judgeNarrowing(
  narrowing: Narrowing,
  records: Iterable<{ readonly name: Name; readonly type: string }>,
): Problem | undefined {
  const outside = judgeNarrowedWrite(narrowing, records);
  return outside === undefined ? undefined : forbidden(outside);
}
