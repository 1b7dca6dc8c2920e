// Finds or creates the account of a person whom the identity provider has authenticated, and sets the rights that the
// provider decides. Runs in the transaction that opens the session.

import type { FastifyBaseLogger } from 'fastify';
import { type Problem, problem } from '../../api/answers/problem.ts';
import { type Account, createAccount, readEmail } from '../../store/accounts/accounts.ts';
import type { Actor } from '../../store/accounts/actor.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import { changeAccount } from '../../store/people/change-account.ts';
import { type Credentials, loadCredentials, lockCredentials } from '../../store/people/credentials.ts';
import {
  findIdentity,
  type Identity,
  linkIdentity,
  listIdentities,
  noteIdentityUse,
} from '../../store/people/identities.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type EmailRules, judgeNewcomer, type Person } from './rules.ts';

interface SigningIn {
  readonly address: string;
  readonly log: FastifyBaseLogger;
}

/** Returns the account that `admitPerson` would return. Undefined if it would create an account, or refuse the person. */
export async function findAccountOf(
  db: Database,
  person: Person,
  rules: EmailRules,
): Promise<Credentials | undefined> {
  const identity = await findIdentity(db, person);
  if (identity !== undefined) return await loadCredentials(db, { accountId: identity.accountId });
  const email = emailOf(person);
  const known = email === undefined ? undefined : await loadCredentials(db, { email });
  return (await judge(db, person, known, rules)).kind === 'link' ? known : undefined;
}

/** Returns the account, with its rights set and the use of the identity recorded. The account is active, and locked. */
export async function admitPerson(
  trx: Database,
  person: Person,
  { rules, ...how }: SigningIn & { readonly rules: EmailRules },
): Promise<Credentials | Problem> {
  const identity = (await findIdentity(trx, person)) ?? (await linkNewcomer(trx, person, rules, how.address));
  return 'accountId' in identity ? await admitIdentity(trx, identity, person, how) : identity;
}

/** Does the same for a person whose identity is linked. */
export async function admitIdentity(
  trx: Database,
  { id, accountId }: Identity,
  person: Person,
  { address, log }: SigningIn,
): Promise<Credentials | Problem> {
  const before = (await lockCredentials(trx, { accountId })) as Credentials;
  if (!before.account.active) return problem('account_suspended', 'account is inactive');
  if (!(await noteIdentityUse(trx, id, person.email)))
    return problem('oidc_refused', 'this identity was just removed from its account');
  const hasChanged = await setOperator(trx, before.account, person, { address, log });
  return hasChanged ? ((await loadCredentials(trx, { accountId })) as Credentials) : before;
}

async function linkNewcomer(
  trx: Database,
  person: Person,
  rules: EmailRules,
  address: string,
): Promise<Identity | Problem> {
  const email = emailOf(person);
  const known = email === undefined ? undefined : await lockCredentials(trx, { email });
  const verdict = await judge(trx, person, known, rules);
  if (verdict.kind === 'refused') return problem('oidc_refused', verdict.why);
  if (email === undefined) return problem('oidc_refused', 'the email address is not valid');
  const account = known?.account ?? (await register(trx, email, person, address));
  if ('status' in account) return account;
  return await recordLink(trx, person, account.id, { kind: 'session', accountId: account.id, address });
}

function emailOf({ email }: Person): string | undefined {
  return email === null ? undefined : readEmail(email);
}

async function judge(db: Database, person: Person, known: Credentials | undefined, rules: EmailRules) {
  const identities = known === undefined ? [] : await listIdentities(db, known.account.id);
  const hasIdentity = identities.some(({ issuer }) => issuer === person.issuer);
  const account = known && { isEmailConfirmed: known.account.isEmailConfirmed, hasIdentity };
  return judgeNewcomer(person, account, rules);
}

async function register(
  trx: Database,
  email: string,
  { name }: Person,
  address: string,
): Promise<Account | Problem> {
  const created = await createAccount(trx, { email, name, selfRegistered: true });
  if (created.kind !== 'created') return problem('oidc_refused', created.message);
  const accountId = created.account.id;
  const by = { kind: 'session', accountId, address } as const;
  await writeAudit(trx, { action: 'account.register', by, accountId, after: { email, name } });
  return created.account;
}

/** Links the identity to an active account, and records it. */
export async function recordLink(
  trx: Database,
  { issuer, subject, email }: Pick<Person, 'issuer' | 'subject' | 'email'>,
  accountId: number,
  by: Actor,
): Promise<Identity | Problem> {
  const linked = await linkIdentity(trx, { accountId, issuer, subject, email });
  if (typeof linked === 'string') return problem('wrong_state', linked);
  const after = { issuer, subject, email };
  await writeAudit(trx, { action: 'identity.link', by, accountId, after });
  return linked;
}

/** Returns true if the rights have changed. That ends the other sessions of the account. */
async function setOperator(
  trx: Database,
  { id: accountId, isAdmin }: Account,
  { isOperator }: Person,
  { address, log }: SigningIn,
): Promise<boolean> {
  if (isOperator === undefined || isOperator === isAdmin) return false;
  const changed = await changeAccount(trx, accountId, { isAdmin: isOperator });
  if (changed.kind !== 'changed') {
    const why = changed.kind === 'refused' ? changed.message : 'the account does not exist';
    log.warn(
      { account: accountId, reason: why },
      'the rights that the identity provider reports were not set',
    );
    return false;
  }
  const by = { kind: 'session', accountId, address } as const;
  const [before, after] = [{ admin: isAdmin }, { admin: isOperator }];
  await writeAudit(trx, { action: 'account.update', by, accountId, before, after });
  return true;
}
