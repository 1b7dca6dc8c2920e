// Finds or creates the account of a person whom the identity provider has authenticated, and sets the rights that the
// provider decides. Runs in the transaction that opens the session.

import type { FastifyBaseLogger } from 'fastify';
import { type Problem, problem } from '../../api/answers/problem.ts';
import { type Account, createAccount, readEmail } from '../../store/accounts/accounts.ts';
import type { Actor } from '../../store/accounts/actor.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import { changeAccount } from '../../store/people/change-account.ts';
import { type Credentials, loadCredentials } from '../../store/people/credentials.ts';
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
  readonly rules: EmailRules;
  readonly address: string;
  readonly log: FastifyBaseLogger;
}

/** Returns the account, with its rights set and the use of the identity recorded. */
export async function admitPerson(
  trx: Database,
  person: Person,
  { rules, address, log }: SigningIn,
): Promise<Credentials | Problem> {
  const identity = (await findIdentity(trx, person)) ?? (await linkNewcomer(trx, person, rules, address));
  if (!('accountId' in identity)) return identity;
  const { accountId } = identity;
  await noteIdentityUse(trx, identity.id, person.email);
  const before = (await loadCredentials(trx, { accountId })) as Credentials;
  const hasChanged = await setOperator(trx, before.account, person, { address, log });
  return hasChanged ? ((await loadCredentials(trx, { accountId })) as Credentials) : before;
}

async function linkNewcomer(
  trx: Database,
  person: Person,
  rules: EmailRules,
  address: string,
): Promise<Identity | Problem> {
  const email = person.email === null ? undefined : readEmail(person.email);
  const known = email === undefined ? undefined : await loadCredentials(trx, { email });
  const verdict = judgeNewcomer(
    person,
    known && {
      isEmailConfirmed: known.account.isEmailConfirmed,
      hasIdentity: (await listIdentities(trx, known.account.id)).some(
        ({ issuer }) => issuer === person.issuer,
      ),
    },
    rules,
  );
  if (verdict.kind === 'refused' || email === undefined)
    return problem(
      'oidc_refused',
      verdict.kind === 'refused' ? verdict.why : 'the email address is not valid',
    );
  const account = known?.account ?? (await register(trx, email, person, address));
  if ('status' in account) return account;
  return await recordLink(trx, person, account.id, { kind: 'session', accountId: account.id, address });
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

/** Links the identity and records it. */
export async function recordLink(
  trx: Database,
  { issuer, subject, email }: Pick<Person, 'issuer' | 'subject' | 'email'>,
  accountId: number,
  by: Actor,
): Promise<Identity | Problem> {
  const linked = await linkIdentity(trx, { accountId, issuer, subject, email });
  if (linked === undefined)
    return problem(
      'wrong_state',
      'this identity, or an identity of this provider, is already linked to an account',
    );
  const after = { issuer, subject, email };
  await writeAudit(trx, { action: 'identity.link', by, accountId, after });
  return linked;
}

/** Returns true if the rights have changed. That ends the other sessions of the account. */
async function setOperator(
  trx: Database,
  { id: accountId, isAdmin, active }: Account,
  { isOperator }: Person,
  { address, log }: Pick<SigningIn, 'address' | 'log'>,
): Promise<boolean> {
  if (isOperator === undefined || isOperator === isAdmin || !active) return false;
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
