// Plans and their terms, which operators sell. A changed plan applies to all its domains; a term never changes.

import { sql } from 'kysely';
import { type Entitlements, NO_ENTITLEMENTS } from '../../billing/entitlements.ts';
import type { Term } from '../../billing/subscription.ts';
import type { Database } from '../postgres/database.ts';
import type { Schema } from '../postgres/tables/schema.ts';

/** A plan. A limit of null means unlimited. */
export interface Plan extends Entitlements {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  /** Maximum number of domains of an account with this plan. */
  readonly maxDomains: number | null;
  /** Maximum number of unverified domains among them. */
  readonly maxClaims: number | null;
  /** Applies to subscriptions that start later; existing ones keep their value. */
  readonly quotaResetDays: number;
}

/** The plan that follows an expired subscription. */
export const FREE_PLAN = 'free';

const PLAN_COLUMNS = {
  name: 'name',
  maxRecords: 'max_records',
  maxDomains: 'max_domains',
  maxClaims: 'max_claims',
  maxTrafficGb: 'max_traffic_gb',
  maxRulesPerSet: 'max_rules_per_set',
  maxCacheCapMb: 'max_cache_cap_mb',
  logsEnabled: 'logs_enabled',
  monitoringEnabled: 'monitoring_enabled',
  rulesEnabled: 'rules_enabled',
  cachePurgeEnabled: 'cache_purge_enabled',
  customSslEnabled: 'custom_ssl_enabled',
  wsEnabled: 'ws_enabled',
  hostHeaderEditEnabled: 'host_header_edit_enabled',
  dedicatedSupportEnabled: 'dedicated_support_enabled',
  quotaResetDays: 'quota_reset_days',
} as const satisfies Record<keyof PlanFields, keyof Schema['plans']>;

type PlanFields = Omit<Plan, 'id' | 'slug'>;

/** A plan as a JSON object in SQL, with the field names of `Plan`. `p` is the table. */
export const PLAN_JSON = sql.raw(
  `jsonb_build_object('id', p.id, 'slug', p.slug, ${Object.entries(PLAN_COLUMNS)
    .map(([field, column]) => `'${field}', p.${column}`)
    .join(', ')})`,
);

/** A term as a JSON object in SQL, with the field names of `Term`; null if there is none. `t` is the table. */
export const TERM_JSON = sql.raw(
  `case when t.id is not null then jsonb_build_object('id', t.id, 'days', t.days, 'priceRials', t.price_rials) end`,
);

/** Returns the plan's id. Null stands for no plan and is returned as null. Returns undefined if the plan does not exist. */
export async function findPlan(trx: Database, slug: string | null): Promise<number | null | undefined> {
  if (slug === null) return null;
  const plan = await trx.selectFrom('plans').select('id').where('slug', '=', slug).executeTakeFirst();
  return plan?.id;
}

/** The error message for a plan that `findPlan` did not find. */
export function unknownPlan(slug: string | null | undefined): string {
  return slug === 'none' ? 'there is no plan "none": use null for no plan' : `there is no plan "${slug}"`;
}

interface CatalogueTerm extends Term {
  readonly isRetired: boolean;
}

export interface CataloguePlan extends Plan {
  readonly terms: readonly CatalogueTerm[];
}

/** Lists all plans with their terms, including retired terms. */
export async function listPlans(db: Database): Promise<CataloguePlan[]> {
  const { rows } = await sql<{ plan: Plan; terms: CatalogueTerm[] }>`
    select ${PLAN_JSON} as plan, coalesce((
      select jsonb_agg(${TERM_JSON} || jsonb_build_object('isRetired', t.retired_at is not null) order by t.id)
      from plan_terms t where t.plan_id = p.id), '[]') as terms
    from plans p order by p.id`.execute(db);
  return rows.map(({ plan, terms }) => ({ ...plan, terms }));
}

async function findCataloguePlan(db: Database, slug: string): Promise<CataloguePlan> {
  return (await listPlans(db)).find((plan) => plan.slug === slug) as CataloguePlan;
}

export type PlanChange = Partial<PlanFields>;

/** Creates a plan. Omitted fields are not included in the plan. Returns undefined if the slug is taken. */
export async function createPlan(
  db: Database,
  slug: string,
  fields: PlanChange & { readonly name: string },
): Promise<CataloguePlan | undefined> {
  const plan = { ...NEW_PLAN, ...fields };
  const names = Object.keys(PLAN_COLUMNS) as (keyof PlanFields)[];
  const { rows } = await sql`
    insert into plans (slug, ${sql.join(names.map((name) => sql.ref(PLAN_COLUMNS[name])))})
    values (${slug}, ${sql.join(names.map((name) => plan[name]))})
    on conflict (slug) do nothing returning id`.execute(db);
  return rows.length === 0 ? undefined : await findCataloguePlan(db, slug);
}

const NEW_PLAN: PlanFields = {
  name: '',
  ...NO_ENTITLEMENTS,
  maxDomains: 0,
  maxClaims: 0,
  quotaResetDays: 30,
};

/** Returns undefined if the plan does not exist. Domains keep what exceeds a lowered limit. */
export async function updatePlan(
  db: Database,
  slug: string,
  change: PlanChange,
): Promise<CataloguePlan | undefined> {
  const columns = Object.fromEntries(
    Object.entries(change).map(([field, value]) => [PLAN_COLUMNS[field as keyof PlanFields], value]),
  );
  const found = await findPlan(db, slug);
  if (typeof found !== 'number') return undefined;
  if (Object.keys(columns).length > 0) {
    await db.updateTable('plans').set(columns).where('id', '=', found).execute();
  }
  return await findCataloguePlan(db, slug);
}

/** Returns undefined if the plan does not exist. */
export async function addTerm(
  db: Database,
  slug: string,
  { days, priceRials }: Omit<Term, 'id'>,
): Promise<CataloguePlan | undefined> {
  const { numAffectedRows } = await sql`
    insert into plan_terms (plan_id, days, price_rials)
    select id, ${days}, ${priceRials} from plans where slug = ${slug}`.execute(db);
  return numAffectedRows === 0n ? undefined : await findCataloguePlan(db, slug);
}

/** Withdraws a term from sale. Existing subscriptions keep it and renew it. Returns undefined if the plan has no such term. */
export async function retireTerm(
  db: Database,
  slug: string,
  termId: number,
): Promise<CataloguePlan | undefined> {
  const { numAffectedRows } = await sql`
    update plan_terms set retired_at = coalesce(retired_at, clock_timestamp())
    where id = ${termId} and plan_id = (select id from plans where slug = ${slug})`.execute(db);
  return numAffectedRows === 0n ? undefined : await findCataloguePlan(db, slug);
}
