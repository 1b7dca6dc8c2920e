// `domain plan`: sets the plan of domains, its term, overrides, and renewal.

import type { Command } from 'commander';
import { judgeEntitlement, type Overrides } from '../../billing/entitlements.ts';
import type { Name } from '../../dns/name.ts';
import type { Subscription } from '../../store/accounts/subscriptions.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { PlanOrder, SetPlan } from '../../store/change/set-plan.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import { planOf } from '../terminal/plan-option.ts';
import { ownerOption } from '../terminal/with-owner.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { type NamesOptions, onNames, runOnNames } from './on-names.ts';

interface PlanOptions extends NamesOptions {
  readonly plan?: string;
  readonly term?: string;
  readonly overrides?: string;
  readonly autoRenew?: string;
  readonly cancel?: true;
}

type Wanted = Omit<PlanOrder, 'domainId' | 'planSlug'> & {
  /** Undefined for the plan that the domain has. */
  readonly planSlug?: string | null;
};

export function addPlanCommand(domain: Command, cli: Cli): void {
  const command = onNames(domain, 'plan', 'set the plan of domains; records beyond its limit stay')
    .option('--plan <plan>', 'free, pro, another plan from `plan list`, or none')
    .option('--term <id>', 'start a subscription with this term of the plan (default: without an end)')
    .option(
      '--overrides <json>',
      'everything that differs from the plan, such as {"max_records": 500}; {} for nothing',
    )
    .option('--auto-renew <on|off>', 'whether the subscription renews automatically')
    .option('--cancel', 'end the subscription at the end of its term, without grace');
  ownerOption(command).action(
    async (names: string[], { plan, term, overrides, autoRenew, cancel, ...options }: PlanOptions) => {
      const wanted: Wanted = {
        ...(plan !== undefined && { planSlug: planOf(plan) }),
        ...(term !== undefined && { termId: readTerm(term) }),
        ...(overrides !== undefined && { overrides: readOverrides(overrides) }),
        ...(autoRenew !== undefined && { autoRenew: readOnOff(autoRenew) }),
      };
      const count = Object.keys(wanted).length;
      if (cancel && count > 0) throw new Failure('usage', '--cancel cannot be combined with other options');
      if (!cancel && count === 0)
        throw new Failure('usage', 'expected --plan, --term, --overrides, --auto-renew or --cancel');
      await runOnNames(cli, { names, outcome: 'updated', ...options }, (db, name, owner) =>
        cli.audited(db, 'domain.plan', (trx, tell) =>
          planDomain(trx, name, cancel ? undefined : wanted, { ...owner, tell }),
        ),
      );
    },
  );
}

/** `wanted` is undefined to cancel. */
async function planDomain(
  db: Database,
  name: Name,
  wanted: Wanted | undefined,
  { tell, ...owner }: Owner & { readonly tell: (note: AuditNote) => void },
): Promise<DomainOutcome> {
  const { ownSubscriptions } = await import('../../store/accounts/subscriptions.ts');
  const { toldSubscription } = await import('../../store/audit/audit-notes.ts');
  const { cancelSubscription, setPlan } = await import('../../store/change/set-plan.ts');
  const found = await findOneDomain(db, name, owner);
  if (found.kind === 'refused') return found;
  const { domain } = found;
  const planSlug = domain.plan?.slug ?? null;
  const before = (await ownSubscriptions(db, [domain.id])).get(domain.id);
  const came = await (wanted === undefined
    ? cancelSubscription(db, { domainId: domain.id })
    : setPlan(db, { planSlug, ...wanted, domainId: domain.id }));
  if (came.kind === 'updated' && came.isChanged)
    tell({
      domainId: domain.id,
      target: { name: printWithoutDot(name) },
      before: toldSubscription(before),
      after: toldSubscription(came.subscription),
    });
  return outcomeOf(domain, came);
}

function outcomeOf(before: Domain, came: SetPlan): DomainOutcome {
  if (came.kind === 'absent') return { kind: 'refused', code: 'absent', message: 'no such domain' };
  if (came.kind === 'refused') return { kind: 'refused', code: came.code, message: came.message };
  const { domain, subscription } = came;
  const { id, status, suspended, serial, plan } = domain;
  const slugs = [before.plan?.slug ?? 'none', plan?.slug ?? 'none'];
  const limits = [limitOf(before), limitOf(domain)];
  const words = [
    `status ${status}`,
    ...(suspended ? ['suspended'] : []),
    `plan ${slugs[0] === slugs[1] ? slugs[1] : slugs.join(' -> ')}`,
    ...(limits[0] === limits[1] ? [] : [`max records ${limits.join(' -> ')}`]),
    ...(subscription === undefined ? [] : wordsOf(subscription)),
    ...(came.isChanged ? [] : ['(no change)']),
  ];
  return {
    kind: 'done',
    words: words.join(' '),
    members: {
      id,
      status,
      served: domain.served,
      suspended,
      plan: plan?.slug ?? null,
      plan_before: before.plan?.slug ?? null,
      serial,
      subscription: subscription === undefined ? null : subscriptionJson(subscription),
    },
  };
}

function wordsOf({ status, term, expiresAt, autoRenew, isTrial, overrides }: Subscription): string[] {
  return [
    ...(status === 'active' ? [] : [status]),
    ...(isTrial ? ['trial'] : []),
    ...(term === null ? [] : [`term ${term.id}`]),
    ...(expiresAt === null ? [] : [`until ${expiresAt.toISOString().slice(0, 10)}`]),
    ...(autoRenew ? ['renewed'] : []),
    ...(overrides === null ? [] : [`overrides ${JSON.stringify(overrides)}`]),
  ];
}

function subscriptionJson(subscription: Subscription): object {
  const { id, status, term, startedAt, expiresAt, graceUntil, autoRenew, isTrial, overrides } = subscription;
  return {
    id,
    status,
    term: term && { id: term.id, days: term.days, price_rials: term.priceRials },
    started_at: startedAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
    grace_until: graceUntil?.toISOString() ?? null,
    auto_renew: autoRenew,
    trial: isTrial,
    overrides,
  };
}

function limitOf({ plan }: Domain): string {
  return plan === null ? '0' : String(plan.maxRecords ?? 'no limit');
}

function readTerm(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new Failure('usage', `--term: expected the id of a term (\`plan list\` shows them), not "${text}"`);
  return Number(text);
}

function readOnOff(text: string): boolean {
  if (text !== 'on' && text !== 'off')
    throw new Failure('usage', `--auto-renew: expected on or off, not "${text}"`);
  return text === 'on';
}

/** Returns null if nothing is overridden. */
function readOverrides(text: string): Overrides | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Failure('usage', `--overrides: not valid JSON: ${text}`);
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new Failure('usage', '--overrides: expected an object like {"max_records": 500}');
  }
  for (const [name, value] of Object.entries(read)) {
    const fault = judgeEntitlement(name, value);
    if (fault !== undefined) throw new Failure('usage', `--overrides: ${name}: ${fault}`);
  }
  return Object.keys(read).length === 0 ? null : (read as Overrides);
}
