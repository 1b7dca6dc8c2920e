// Accounts as global admins see them, and as the audit log tells of them.

import type { z } from 'zod';
import type { ListedAccount } from '../../store/accounts/account-lists.ts';
import type { AdminAccount } from '../schemas/admin/account.ts';

export function printAccount(account: ListedAccount): z.input<typeof AdminAccount> {
  const { id, email, name, providerId, planSlug } = account;
  return {
    id,
    email,
    email_confirmed: account.isEmailConfirmed,
    ...(name !== null && { name }),
    admin: account.isAdmin,
    reseller: account.isReseller,
    ...(providerId !== null && { provider: providerId }),
    active: account.active,
    ...(planSlug !== null && { plan: planSlug }),
    password_set: account.hasPassword,
    otp: account.hasTotp,
    domains: account.domains,
    created_at: account.createdAt.toISOString(),
  };
}
