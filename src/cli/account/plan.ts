// `zonefleet plan …`: the plans of domains, their limits and their prices. Plans and terms are never deleted, because
// subscriptions refer to them.

import type { Command } from 'commander';
import { ENTITLEMENTS, judgeEntitlement, keyOf } from '../../billing/entitlements.ts';
import type { CataloguePlan, PlanChange } from '../../store/accounts/plans.ts';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import type { Output } from '../terminal/output.ts';
import { printTable } from '../terminal/print-table.ts';

interface SetOptions {
  readonly name?: string;
}

export function addPlanCommands(program: Command, cli: Cli): void {
  const plan = commandOf(program, 'plan');
  plan
    .command('list')
    .description('list plans with their terms')
    .action(async () => {
      const { listPlans } = await import('../../store/accounts/plans.ts');
      await cli.withStore(async (db) => showPlans(await listPlans(db), cli.output));
    });
  onPlan(
    plan,
    'create',
    'create a plan. Without settings it includes what `free` includes; otherwise it includes only what is set. Exits with 1 if the plan exists',
  )
    .argument('[setting...]', SETTING_HELP)
    .option('--name <name>', 'display name (default: PLAN)')
    .action(async (slug: string, settings: string[], { name = slug }: SetOptions) => {
      if (!/^[a-z][a-z0-9-]{0,39}$/.test(slug) || slug === 'none') {
        throw new Failure('usage', `"${slug}": expected a plan of lowercase letters, digits and hyphens`);
      }
      const given = readSettings(settings);
      const { createPlan, FREE_PLAN, listPlans } = await import('../../store/accounts/plans.ts');
      const { toldPlan } = await import('../../store/audit/audit-notes.ts');
      await change(cli, 'created', `a plan "${slug}" already exists`, 'plan.create', async (db) => {
        const free = (await listPlans(db)).find((each) => each.slug === FREE_PLAN);
        const fields = settings.length > 0 || free === undefined ? given : includedIn(free);
        const plan = await createPlan(db, slug, { ...fields, name });
        return plan && { plan, note: { after: toldPlan(plan) } };
      });
    });
  onPlan(plan, 'set', 'change a plan, for all domains that have it; exit 1 if it does not exist')
    .argument('[setting...]', SETTING_HELP)
    .option('--name <name>', 'display name')
    .action(async (slug: string, settings: string[], { name }: SetOptions) => {
      const fields = { ...readSettings(settings), ...(name !== undefined && { name }) };
      if (Object.keys(fields).length === 0) throw new Failure('usage', `expected --name or ${SETTING_HELP}`);
      const { listPlans, updatePlan } = await import('../../store/accounts/plans.ts');
      const { toldPlan } = await import('../../store/audit/audit-notes.ts');
      await change(cli, 'updated', noPlan(slug), 'plan.update', async (db) => {
        const before = (await listPlans(db)).find((plan) => plan.slug === slug);
        const plan = await updatePlan(db, slug, fields);
        return plan && { plan, note: { ...(before && { before: toldPlan(before) }), after: toldPlan(plan) } };
      });
    });
  onPlan(
    plan,
    'term',
    'add or retire a term of a plan; terms cannot be changed, so retire one and add another',
  )
    .option('--days <days>', 'length in days, 1 to 3660 (required unless --retire)')
    .option('--price <rials>', 'price in rials, 0 if free (required unless --retire)')
    .option('--retire <id>', 'withdraw this term from sale; existing subscriptions keep it')
    .action(async (slug: string, { days, price, retire }: Readonly<Record<string, string>>) => {
      const { addTerm, retireTerm } = await import('../../store/accounts/plans.ts');
      if (retire !== undefined) {
        if (days !== undefined || price !== undefined)
          throw new Failure('usage', '--retire cannot be combined with other options');
        const termId = readCount('--retire', retire, 1, Number.MAX_SAFE_INTEGER);
        const missing = `the plan "${slug}" has no term ${termId}`;
        await change(cli, 'updated', missing, 'plan.retire_term', async (db) => {
          const plan = await retireTerm(db, slug, termId);
          return plan && { plan, note: { before: { term: termId } } };
        });
        return;
      }
      if (days === undefined || price === undefined)
        throw new Failure('usage', 'expected --days and --price, or --retire');
      const term = {
        days: readCount('--days', days, 1, MAX_DAYS),
        priceRials: readCount('--price', price, 0, MAX_RIALS),
      };
      await change(cli, 'updated', noPlan(slug), 'plan.add_term', async (db) => {
        const plan = await addTerm(db, slug, term);
        const after = { billing_duration_days: term.days, price_rials: term.priceRials };
        return plan && { plan, note: { after } };
      });
    });
}

const MAX_DAYS = 3660;
const MAX_RIALS = 9_000_000_000_000_000;
const SETTING_HELP = 'FIELD=VALUE, such as max_records=500 max_traffic_gb=none rules_enabled=true';
const noPlan = (slug: string) => `no plan "${slug}"`;

function onPlan(plan: Command, name: string, description: string): Command {
  return plan
    .command(name)
    .description(description)
    .argument('<plan>', 'short name of the plan, such as free');
}

interface ChangedPlan {
  readonly plan: CataloguePlan;
  readonly note: Pick<AuditNote, 'before' | 'after'>;
}

async function change(
  cli: Cli,
  outcome: string,
  refusal: string,
  action: AuditAction,
  act: (db: Database) => Promise<ChangedPlan | undefined>,
): Promise<void> {
  await cli.withStore(async (db) => {
    const plan = await cli.audited(db, action, async (trx, tell) => {
      const changed = await act(trx);
      if (changed === undefined) return undefined;
      tell({ target: { id: changed.plan.id, name: changed.plan.slug }, ...changed.note });
      return changed.plan;
    });
    const { json } = cli.output;
    if (plan === undefined) {
      if (json) await cli.output.print(JSON.stringify({ outcome: 'refused', message: refusal }));
      else await cli.output.complain(refusal);
      return 1;
    }
    await cli.output.print(
      json
        ? JSON.stringify({ outcome, ...planJson(plan) })
        : `${outcome} plan ${plan.slug} ${wordsOf(plan).join(' ')}`,
    );
    return 0;
  });
}

/** Fields of a plan in addition to the entitlements of a domain. */
const OTHER_FIELDS = {
  max_domains: { key: 'maxDomains', mayBeNull: true },
  max_claims: { key: 'maxClaims', mayBeNull: true },
  quota_reset_days: { key: 'quotaResetDays', mayBeNull: false },
} as const;

function isOther(name: string): name is keyof typeof OTHER_FIELDS {
  return Object.hasOwn(OTHER_FIELDS, name);
}

/** Everything that a plan includes, as settings for another plan. */
function includedIn({ id, slug, name, terms, ...fields }: CataloguePlan): PlanChange {
  return fields;
}

function readSettings(settings: readonly string[]): PlanChange {
  return Object.fromEntries(settings.map(readSetting));
}

function readSetting(setting: string): [string, number | boolean | null] {
  const [, name = '', text = ''] = /^([a-z_]+)=(.*)$/.exec(setting) ?? [];
  if (name === '') throw new Failure('usage', `"${setting}": expected ${SETTING_HELP}`);
  if (isOther(name)) {
    const { key, mayBeNull } = OTHER_FIELDS[name];
    return [key, mayBeNull && text === 'none' ? null : readCount(name, text, 0, 2_147_483_647)];
  }
  const value = text === 'none' ? null : /^\d{1,15}$/.test(text) ? Number(text) : readFlag(text);
  const fault = judgeEntitlement(name, value);
  if (fault !== undefined) {
    const others = keyOf(name) === undefined ? `, ${Object.keys(OTHER_FIELDS).join(', ')}` : '';
    throw new Failure('usage', `${name}: ${fault.replace('null', 'none')}${others}`);
  }
  return [keyOf(name) as string, value as number | boolean | null];
}

function readFlag(text: string): boolean | string {
  return text === 'true' || (text === 'false' ? false : text);
}

function readCount(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Failure('usage', `${name}: expected a whole number from ${least} to ${most}, not "${text}"`);
}

function planJson(plan: CataloguePlan): object {
  const features = Object.entries(ENTITLEMENTS).map(([key, { name }]) => [
    name,
    plan[key as keyof typeof ENTITLEMENTS],
  ]);
  const others = Object.entries(OTHER_FIELDS).map(([name, { key }]) => [name, plan[key]]);
  return {
    id: plan.id,
    slug: plan.slug,
    name: plan.name,
    ...Object.fromEntries([...features, ...others]),
    terms: plan.terms.map(({ id, days, priceRials, isRetired }) => ({
      id,
      billing_duration_days: days,
      price_rials: priceRials,
      retired: isRetired,
    })),
  };
}

function wordsOf(plan: CataloguePlan): string[] {
  const json = planJson(plan) as Readonly<Record<string, unknown>>;
  const fields = Object.entries(json).filter(([name]) => !['id', 'slug', 'name', 'terms'].includes(name));
  return [
    ...fields.map(([name, value]) => `${name}=${value ?? 'none'}`),
    ...plan.terms.map(
      ({ id, days, priceRials, isRetired }) =>
        `term ${id}: ${days} days, ${priceRials} rials${isRetired ? ' (retired)' : ''}`,
    ),
  ];
}

async function showPlans(plans: readonly CataloguePlan[], output: Output): Promise<number> {
  if (output.json) {
    await output.print(JSON.stringify({ plans: plans.map(planJson) }));
    return 0;
  }
  const heads = ['FIELD', ...plans.map(({ slug }) => slug.toUpperCase())];
  const documents = plans.map((plan) => planJson(plan) as Readonly<Record<string, unknown>>);
  const names = Object.keys(documents[0] ?? {}).filter((name) => name !== 'slug' && name !== 'terms');
  const rows = names.map((name) => [name, ...documents.map((json) => String(json[name] ?? 'none'))]);
  const terms = plans.flatMap(({ slug, terms }) =>
    terms.map(
      ({ id, days, priceRials, isRetired }) =>
        `${slug}: term ${id}, ${days} days, ${priceRials} rials${isRetired ? ', retired' : ''}`,
    ),
  );
  await output.print([printTable(heads, rows), ...terms].join('\n'));
  return 0;
}
