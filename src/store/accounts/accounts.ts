// Accounts, which own domains and API keys.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { endInvitesOf, endMembersOf } from './end-sharing.ts';
import { findPlan, unknownPlan } from './plans.ts';

const MAX_EMAIL_CHARACTERS = 254; // RFC 5321 §4.5.3.1.3
const MAX_LOCAL_CHARACTERS = 64; // RFC 5321 §4.5.3.1.1
/** Excludes characters that have a meaning in mail headers. */
const ADDRESS = /^[^\s@<>()[\],;:\\"\p{C}]+@[^\s@<>()[\],;:\\"\p{C}]+$/u;

/** Returns the address in NFC, or undefined if the text is not an email address. */
export function readEmail(text: string): string | undefined {
  const email = text.trim().normalize('NFC');
  const isFit = email.length <= MAX_EMAIL_CHARACTERS && email.indexOf('@') <= MAX_LOCAL_CHARACTERS;
  return isFit && ADDRESS.test(email) ? email : undefined;
}

/** Returns the key under which an email is unique: addresses with the same key belong to one account. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

export interface Account {
  readonly id: number;
  readonly email: string;
  readonly name: string | null;
  /** The account has the role of owner in every domain. */
  readonly isAdmin: boolean;
  /** The account may manage client accounts. */
  readonly isReseller: boolean;
  readonly active: boolean;
  /** True if the owner opened the mailed link or an operator created the account. */
  readonly isEmailConfirmed: boolean;
  /** The reseller that manages the account. */
  readonly providerId: number | null;
  /** The plan of the account's new domains. */
  readonly planSlug: string | null;
  readonly createdAt: Date;
}

interface NewAccount {
  readonly email: string;
  readonly name?: string | null;
  readonly isAdmin?: boolean;
  /** Defaults to `free`. Null for no plan. */
  readonly planSlug?: string | null;
  /**
   * True if the owner registered by opening a mailed link; false if an operator creates the account. The first domain
   * of a self-registered account may start with a trial.
   */
  readonly selfRegistered?: boolean;
  /** The reseller that creates and manages the account. The email address is not confirmed yet. */
  readonly providerId?: number;
}

type CreatedAccount =
  | { readonly kind: 'created'; readonly account: Account }
  | { readonly kind: 'taken' | 'unknown_plan'; readonly message: string };

export async function createAccount(db: Database, wanted: NewAccount): Promise<CreatedAccount> {
  const { name = null, isAdmin = false, planSlug = 'free', selfRegistered = false, providerId } = wanted;
  const email = readEmail(wanted.email);
  if (email === undefined) throw new RangeError('this is not an email address');
  const planId = await findPlan(db, planSlug);
  if (planId === undefined) return { kind: 'unknown_plan', message: unknownPlan(planSlug) };
  const inserted = await db
    .insertInto('accounts')
    .values({
      email,
      email_key: emailKeyOf(email),
      name,
      is_admin: isAdmin,
      plan_id: planId,
      self_registered: selfRegistered,
      ...(providerId !== undefined && { provider_id: providerId, email_confirmed_at: null }),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) return { kind: 'taken', message: `an account ${email} already exists` };
  return { kind: 'created', account: (await loadAccount(db, inserted.id)) as Account };
}

const COLUMNS = sql`a.id, a.email, a.name, a.is_admin as "isAdmin", a.is_reseller as "isReseller", a.active,
  a.email_confirmed_at is not null as "isEmailConfirmed", a.provider_id as "providerId", p.slug as "planSlug",
  a.created_at as "createdAt"`;

/** An account as a JSON column. The statement must contain `accounts a left join plans p`. */
export const ACCOUNT_JSON = sql`jsonb_build_object('id', a.id, 'email', a.email, 'name', a.name, 'isAdmin', a.is_admin,
  'isReseller', a.is_reseller, 'active', a.active, 'isEmailConfirmed', a.email_confirmed_at is not null,
  'providerId', a.provider_id, 'planSlug', p.slug, 'createdAt', a.created_at)`;

export type AccountJson = Omit<Account, 'createdAt'> & { readonly createdAt: string };

export function accountOf(json: AccountJson): Account {
  return { ...json, createdAt: new Date(json.createdAt) };
}

export async function loadAccount(db: Database, id: number): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select ${COLUMNS} from accounts a left join plans p on p.id = a.plan_id where a.id = ${id}`.execute(db);
  return rows[0];
}

/** Finds an account by email, ignoring case, or by id in digits. */
export async function findAccount(db: Database, emailOrId: string): Promise<Account | undefined> {
  const id = /^[0-9]{1,15}$/.test(emailOrId) ? Number(emailOrId) : null;
  const { rows } = await sql<Account>`
    select ${COLUMNS} from accounts a left join plans p on p.id = a.plan_id
    where a.email_key = ${emailKeyOf(emailOrId)} or lower(a.email) = lower(${emailOrId}) or a.id = ${id}::bigint
    order by a.id is distinct from ${id}::bigint desc limit 1`.execute(db);
  return rows[0];
}

/** Returns a function that finds account ids as `findAccount` does, and caches the results. */
export function accountIds(db: Database): (emailOrId: string) => Promise<number | undefined> {
  const found = new Map<string, Promise<number | undefined>>();
  return (emailOrId) => {
    const known = found.get(emailOrId) ?? findAccount(db, emailOrId).then((account) => account?.id);
    found.set(emailOrId, known);
    return known;
  };
}

export async function listAccounts(db: Database): Promise<Account[]> {
  const { rows } = await sql<Account>`
    select ${COLUMNS} from accounts a left join plans p on p.id = a.plan_id order by a.id`.execute(db);
  return rows;
}

export type AccountChange = {
  readonly isAdmin?: boolean;
  readonly active?: boolean;
  /** The plan of new domains. Existing domains keep their plan. */
  readonly planSlug?: string | null;
  /** The reseller that deactivates the account and may reactivate it. Undefined for the operator. */
  readonly by?: number;
};

/** Returns undefined if the account does not exist. */
export async function updateAccount(
  db: Database,
  id: number,
  change: AccountChange,
): Promise<Account | 'unknown_plan' | undefined> {
  const { isAdmin, active, planSlug, by } = change;
  const planId = planSlug === undefined ? null : await findPlan(db, planSlug);
  if (planId === undefined) return 'unknown_plan';
  return await inTransaction(db, async (trx) => {
    const before = await loadAccount(trx, id);
    await trx
      .updateTable('accounts')
      .set({
        updated_at: sql`clock_timestamp()`,
        ...(isAdmin !== undefined && { is_admin: isAdmin }),
        ...(active !== undefined && { active, deactivated_by: active ? null : (by ?? null) }),
        ...(planSlug !== undefined && { plan_id: planId }),
      })
      .where('id', '=', id)
      .execute();
    const now = await loadAccount(trx, id);
    // A session keeps the rights that it was opened with, so the user must sign in again.
    if (now?.isAdmin !== before?.isAdmin || now?.active !== before?.active) {
      await sql`delete from sessions where account_id = ${id}`.execute(trx);
      await endInvitesOf(trx, id);
    }
    return now;
  });
}

type RelatedAccount = { readonly kind: 'updated'; readonly account: Account } | RelationRefusal;
interface RelationRefusal {
  readonly kind: 'refused';
  readonly code: 'absent' | 'no_reseller' | 'own_provider' | 'is_reseller' | 'has_clients' | 'in_debt';
  readonly message: string;
}

/** Sets or removes the reseller of an account. A reseller cannot be a client, so there is only one level. */
export async function setProvider(
  db: Database,
  id: number,
  providerId: number | null,
): Promise<RelatedAccount> {
  return await inTransaction<RelatedAccount>(db, async (trx) => {
    await lockForProvider(trx, id, providerId);
    const account = await loadAccount(trx, id);
    if (account === undefined) return refused('absent', 'no such account');
    if (providerId !== null) {
      if (providerId === id) return refused('own_provider', 'an account cannot be its own client');
      const provider = await loadAccount(trx, providerId);
      if (provider?.isReseller !== true) return refused('no_reseller', 'the provider is not a reseller');
      if (account.isReseller) return refused('is_reseller', 'a reseller cannot be a client');
    }
    if (providerId !== null && providerId !== account.providerId && (await owes(trx, id)))
      return refused(
        'in_debt',
        "the account's wallet is below zero, and its provider would pay the debt: settle it first",
      );
    const saved = await save(trx, id, { provider_id: providerId });
    // The former reseller no longer manages the account's members and no longer sees its domains.
    if (account.providerId !== null && account.providerId !== providerId) {
      await endInvitesOf(trx, account.providerId);
      await endMembersOf(trx, { ownerId: id, granterId: account.providerId });
    }
    return saved;
  });
}

async function owes(trx: Database, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from wallets where account_id = ${id} and balance_rials < 0 for no key update`.execute(trx);
  return rows.length > 0;
}

/** Rejects false while the account has clients. */
export async function setReseller(db: Database, id: number, isReseller: boolean): Promise<RelatedAccount> {
  return await inTransaction<RelatedAccount>(db, async (trx) => {
    await lockAccounts(trx, [id]);
    const account = await loadAccount(trx, id);
    if (account === undefined) return refused('absent', 'no such account');
    if (isReseller && account.providerId !== null) {
      return refused('is_reseller', 'a client of a reseller cannot be a reseller');
    }
    const saved = await save(trx, id, { is_reseller: isReseller });
    const client = await trx
      .selectFrom('accounts')
      .select('email')
      .where('provider_id', '=', id)
      .limit(1)
      .executeTakeFirst();
    if (!isReseller && client !== undefined) {
      rollBackTo(
        refused(
          'has_clients',
          `the account has clients, such as ${client.email}: give them another provider first`,
        ),
      );
    }
    return saved;
  });
}

/**
 * Takes the locks for a change of provider in the order that all writers use: accounts, their domains, then the wallet.
 * A caller that also locks the account, its invites or its members calls this first. The locked domains prevent
 * purchases, invites and new members under the previous provider's rights.
 */
export async function lockForProvider(trx: Database, id: number, providerId: number | null): Promise<void> {
  await lockAccounts(trx, providerId === null ? [id] : [id, providerId]);
  await sql`select from domains where account_id = ${id} order by id for no key update`.execute(trx);
}

/** Locks in ascending order of id, so that concurrent changes of the same accounts do not deadlock. */
export async function lockAccounts(trx: Database, ids: readonly number[]): Promise<void> {
  await sql`select from accounts where id = any(${ids}::bigint[]) order by id for no key update`.execute(trx);
}

async function save(
  trx: Database,
  id: number,
  columns: { readonly provider_id?: number | null; readonly is_reseller?: boolean },
): Promise<RelatedAccount> {
  await trx
    .updateTable('accounts')
    .set({ ...columns, updated_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
  return { kind: 'updated', account: (await loadAccount(trx, id)) as Account };
}

function refused(code: RelationRefusal['code'], message: string): RelationRefusal {
  return { kind: 'refused', code, message };
}
