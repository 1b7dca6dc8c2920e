// /admin/accounts: lists, creates and updates accounts. An account is never deleted, because logs refer to it.

import { z } from 'zod';
import {
  ACCOUNT_ROLES,
  ACCOUNT_SORTS,
  countAccounts,
  type ListedAccount,
  listAccountPage,
  loadListedAccount,
} from '../../../store/accounts/account-lists.ts';
import { createAccount } from '../../../store/accounts/accounts.ts';
import { readEmail } from '../../../store/accounts/email-address.ts';
import { toldAccount } from '../../../store/audit/told-fields.ts';
import {
  type ChangedAccount,
  changeAccount,
  type WantedAccount,
} from '../../../store/people/change-account.ts';
import { orderMailOf } from '../../../store/people/mails.ts';
import { invalid, notFound, Problem } from '../../answers/problem.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, route } from '../../calls/route.ts';
import { answerList, PAGE_QUERY } from '../../lists/paging.ts';
import { printAccount } from '../../print/print-account.ts';
import { AccountChange, AdminAccount, NewAdminAccount } from '../../schemas/admin/account.ts';
import { idText } from '../../schemas/ids.ts';
import { integerText, sortText } from '../../schemas/query-text.ts';

const tag = 'Accounts';

export const listAccounts = route(admin, {
  method: 'GET',
  path: '/admin/accounts',
  operationId: 'adminListAccounts',
  tag,
  summary: 'The accounts, the newest first.',
  query: z.object({
    search: z.string().max(254).optional().describe('A part of the email or the name.'),
    status: z.enum(['active', 'inactive']).optional(),
    role: z.enum(ACCOUNT_ROLES).optional(),
    plan: z.string().max(40).optional().describe('Of new domains; `none`: those without.'),
    provider: integerText(1, Number.MAX_SAFE_INTEGER).optional().describe('The clients of this reseller.'),
    sort: sortText(ACCOUNT_SORTS).optional().describe('`-` in front descends. `-created_at` unless said.'),
    ...PAGE_QUERY,
  }),
  response: z.array(AdminAccount),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { search, status, role, plan, provider, sort } = call.query;
    const filter = {
      search: search?.normalize('NFC'),
      active: status === undefined ? undefined : status === 'active',
      role,
      planSlug: plan === 'none' ? null : plan,
      providerId: provider,
    };
    const order = { sort: sort?.column ?? ('created_at' as const), descending: sort?.descends ?? true };
    return answerList(call, {
      load: (page) => listAccountPage(db, filter, order, page),
      count: () => countAccounts(db, filter),
      print: async (accounts) => accounts.map(printAccount),
    });
  },
});

export const createOneAccount = route(admin, {
  method: 'POST',
  path: '/admin/accounts',
  operationId: 'adminCreateAccount',
  tag,
  summary: 'Make an account.',
  description: 'It has no password yet: give its owner a link.',
  audit: 'account.create',
  body: NewAdminAccount,
  response: AdminAccount,
  async run({ api, body, audit }) {
    const { email, name = null, admin: isAdmin, plan: planSlug } = body;
    const created = await createAccount(api.db, { email, name, isAdmin, planSlug });
    if (created.kind === 'unknown_plan') return invalid([{ field: 'plan', error: created.message }]);
    if (created.kind !== 'created') return new Problem(409, created.message);
    const { account } = created;
    audit({ accountId: account.id, target: { name: account.email }, after: toldAccount(account) });
    return printAccount((await loadListedAccount(api.db, account.id)) as ListedAccount);
  },
});

/** Common members of the routes for one account. */
export const oneAccount = {
  params: z.object({ id: idText }),
  find: ({ api, params }: CallOf<'admin', { id: number }>) => loadListedAccount(api.db, params.id),
  finds: 'account',
};

export const getAccount = route(admin, {
  method: 'GET',
  path: '/admin/accounts/{id}',
  operationId: 'adminGetAccount',
  tag,
  summary: 'One account.',
  ...oneAccount,
  response: AdminAccount,
  run: ({ found }) => printAccount(found),
});

export const updateAccount = route(admin, {
  method: 'PATCH',
  path: '/admin/accounts/{id}',
  operationId: 'adminUpdateAccount',
  tag,
  summary: 'Change an account: all that is said, or nothing.',
  description:
    'Other rights, and deactivation, end the sessions of the account. The last global admin cannot be deactivated, and stays one. A new email counts at once; the old address is told, where mail is sent.',
  audit: 'account.update',
  ...oneAccount,
  body: AccountChange,
  response: AdminAccount,
  async run({ api, people, found, body, audit }) {
    const { email, name, admin, reseller, provider, active, plan } = body;
    const changed = await changeAccount(api.db, found.id, {
      email: email === undefined ? undefined : readEmail(email),
      name,
      isAdmin: admin,
      isReseller: reseller,
      providerId: provider,
      active,
      planSlug: plan,
    });
    if (changed.kind === 'absent') return notFound('account');
    if (changed.kind === 'refused') return refusalOf(changed);
    const { before, account } = changed;
    const [told, now] = [toldAccount(before), toldAccount(account)];
    const isSame = JSON.stringify(told) === JSON.stringify(now);
    audit(
      isSame
        ? undefined
        : { accountId: account.id, target: { name: account.email }, before: told, after: now },
    );
    if (people.sendsMail && before.email !== account.email)
      await orderMailOf(api.db, 'email-changed', account.id, before.email);
    return printAccount((await loadListedAccount(api.db, account.id)) as ListedAccount);
  },
});

const FIELDS: Readonly<Record<keyof WantedAccount, string>> = {
  email: 'email',
  name: 'name',
  isAdmin: 'admin',
  isReseller: 'reseller',
  providerId: 'provider',
  active: 'active',
  planSlug: 'plan',
};

function refusalOf({ code, field, message }: Extract<ChangedAccount, { kind: 'refused' }>): Problem {
  if (code === 'unknown_plan') return invalid([{ field: FIELDS[field], error: message }]);
  return new Problem(409, `${FIELDS[field]}: ${message}`);
}
