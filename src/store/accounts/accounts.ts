// Accounts: who owns domains and keys.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export interface Account {
  readonly id: number;
  readonly email: string;
  readonly name: string | null;
  /** The account has the role of owner in every domain. */
  readonly isAdmin: boolean;
  readonly active: boolean;
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
  /** The default is `free`; null: no plan. */
  readonly planSlug?: string | null;
}

type CreatedAccount =
  | { readonly kind: 'created'; readonly account: Account }
  | { readonly kind: 'taken' | 'unknown_plan'; readonly message: string };

const MAX_EMAIL_CHARACTERS = 254;

export async function createAccount(db: Database, wanted: NewAccount): Promise<CreatedAccount> {
  const { email, name = null, isAdmin = false, planSlug = 'free' } = wanted;
  if (email.length > MAX_EMAIL_CHARACTERS) throw new RangeError('the email is too long');
  const planId = await findPlanId(db, planSlug);
  if (planId === undefined) return { kind: 'unknown_plan', message: `there is no plan "${planSlug}"` };
  const inserted = await db
    .insertInto('accounts')
    .values({ email, name, is_admin: isAdmin, plan_id: planId })
    .onConflict((conflict) => conflict.expression(sql`lower(email)`).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) return { kind: 'taken', message: `there is an account ${email} already` };
  return { kind: 'created', account: (await loadAccount(db, inserted.id)) as Account };
}

/** Undefined: there is no such plan. Null stays null, which means no plan. */
async function findPlanId(db: Database, slug: string | null): Promise<number | null | undefined> {
  if (slug === null) return null;
  const plan = await db.selectFrom('plans').select('id').where('slug', '=', slug).executeTakeFirst();
  return plan?.id;
}

const COLUMNS = sql`a.id, a.email, a.name, a.is_admin as "isAdmin", a.active, a.provider_id as "providerId",
  p.slug as "planSlug", a.created_at as "createdAt"`;

export async function loadAccount(db: Database, id: number): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select ${COLUMNS} from accounts a left join plans p on p.id = a.plan_id where a.id = ${id}`.execute(db);
  return rows[0];
}

/** Finds an account by email in any case, or by id in digits. */
export async function findAccount(db: Database, emailOrId: string): Promise<Account | undefined> {
  const id = /^[0-9]{1,15}$/.test(emailOrId) ? Number(emailOrId) : null;
  const { rows } = await sql<Account>`
    select ${COLUMNS} from accounts a left join plans p on p.id = a.plan_id
    where lower(a.email) = lower(${emailOrId}) or a.id = ${id}::bigint
    order by lower(a.email) = lower(${emailOrId}) desc limit 1`.execute(db);
  return rows[0];
}

export async function listAccounts(db: Database): Promise<Account[]> {
  const { rows } = await sql<Account>`
    select ${COLUMNS} from accounts a left join plans p on p.id = a.plan_id order by a.id`.execute(db);
  return rows;
}

export type AccountChange = {
  readonly isAdmin?: boolean;
  readonly active?: boolean;
  /** The plan of new domains; existing domains keep theirs. */
  readonly planSlug?: string | null;
};

/** Undefined where there is no such account. */
export async function updateAccount(
  db: Database,
  id: number,
  change: AccountChange,
): Promise<Account | 'unknown_plan' | undefined> {
  const { isAdmin, active, planSlug } = change;
  const planId = planSlug === undefined ? null : await findPlanId(db, planSlug);
  if (planId === undefined) return 'unknown_plan';
  await db
    .updateTable('accounts')
    .set({
      updated_at: sql`clock_timestamp()`,
      ...(isAdmin !== undefined && { is_admin: isAdmin }),
      ...(active !== undefined && { active }),
      ...(planSlug !== undefined && { plan_id: planId }),
    })
    .where('id', '=', id)
    .execute();
  return await loadAccount(db, id);
}
