// Domains of any account as global admins see them: with their owners and subscriptions.

import type { z } from 'zod';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { AdminDomain } from '../schemas/admin/domain.ts';
import { moments } from './moments.ts';
import { printDomain } from './print-domain.ts';
import { printSubscription } from './print-subscription.ts';

interface PrintOptions {
  readonly movedGraceMs?: number | undefined;
}

/** With two statements, whatever the number of domains. */
export async function printAdminDomains(
  db: Database,
  domains: readonly Domain[],
  options: PrintOptions,
): Promise<z.input<typeof AdminDomain>[]> {
  if (domains.length === 0) return [];
  const subscriptions = await ownSubscriptions(
    db,
    domains.map(({ id }) => id),
  );
  const owners = [...new Set(domains.map(({ accountId }) => accountId))];
  const accounts = await db
    .selectFrom('accounts')
    .select(['id', 'email'])
    .where('id', 'in', owners)
    .execute();
  const emails = new Map(accounts.map(({ id, email }) => [id, email]));
  return domains.map((domain) => {
    const subscription = subscriptions.get(domain.id);
    return {
      ...printDomain({ ...domain, myRole: 'owner' }, options),
      user_email: emails.get(domain.accountId) ?? '',
      suspended_by: [...domain.suspendedBy],
      ...(subscription !== undefined && { subscription: printSubscription(subscription, domain) }),
      ...(subscription?.overrides && { overrides: subscription.overrides }),
      ...moments({ deleted_at: domain.deletedAt }),
    };
  });
}

export async function printAdminDomain(
  db: Database,
  domain: Domain,
  options: PrintOptions,
): Promise<z.input<typeof AdminDomain>> {
  const [printed] = await printAdminDomains(db, [domain], options);
  return printed as z.input<typeof AdminDomain>;
}
