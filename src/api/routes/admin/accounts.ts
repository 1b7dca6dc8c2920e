// /admin/accounts: lists, creates and updates accounts, creates sign-in links for owners who cannot sign in, and
// lists and revokes their API keys. Accounts are never deleted, because logs refer to them.

import { z } from 'zod';
import { linkTo } from '../../../process/public-link.ts';
import {
  ACCOUNT_ROLES,
  ACCOUNT_SORTS,
  countAccounts,
  type ListedAccount,
  listAccountPage,
  loadListedAccount,
} from '../../../store/accounts/account-lists.ts';
import { createAccount, readEmail } from '../../../store/accounts/accounts.ts';
import { listApiKeys, revokeOwnKey } from '../../../store/accounts/api-keys.ts';
import { keyNote, toldAccount } from '../../../store/audit/audit-notes.ts';
import {
  type ChangedAccount,
  changeAccount,
  type WantedAccount,
} from '../../../store/people/change-account.ts';
import { LINK_MINUTES, makeLink } from '../../../store/people/credentials.ts';
import { orderMailOf } from '../../../store/people/mails.ts';
import { invalid, notFound, Problem, problem } from '../../answers/problem.ts';
import { answerList, PAGE_QUERY } from '../../calls/answer-list.ts';
import type { CallOf } from '../../calls/call.ts';
import { admin, type Route, route } from '../../calls/route.ts';
import { printAccount, printKey } from '../../print/print-account.ts';
import {
  AccountChange,
  AccountLink,
  AdminAccount,
  LinkOrder,
  NewAdminAccount,
} from '../../schemas/admin/account.ts';
import { idText, integerText, Message, sortText } from '../../schemas/fields.ts';
import { Key } from '../../schemas/people.ts';

const tag = 'Accounts';

const listAccounts = route(admin, {
  method: 'GET',
  path: '/admin/accounts',
  operationId: 'adminListAccounts',
  tag,
  summary: 'Lists the accounts, newest first.',
  query: z.object({
    search: z.string().max(254).optional().describe('Part of the email address or the name.'),
    status: z.enum(['active', 'inactive']).optional(),
    role: z.enum(ACCOUNT_ROLES).optional(),
    plan: z
      .string()
      .max(40)
      .optional()
      .describe('Slug of the plan for new domains. `none`: accounts without one.'),
    provider: integerText(1, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Only the clients of this reseller.'),
    sort: sortText(ACCOUNT_SORTS)
      .optional()
      .describe('A leading `-` sorts in descending order. Default: `-created_at`.'),
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

const createOneAccount = route(admin, {
  method: 'POST',
  path: '/admin/accounts',
  operationId: 'adminCreateAccount',
  tag,
  summary: 'Creates an account.',
  description: 'The account has no password yet: create a link for its owner.',
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
const oneAccount = {
  params: z.object({ id: idText }),
  find: ({ api, params }: CallOf<'admin', { id: number }>) => loadListedAccount(api.db, params.id),
  finds: 'account',
};

const getAccount = route(admin, {
  method: 'GET',
  path: '/admin/accounts/{id}',
  operationId: 'adminGetAccount',
  tag,
  summary: 'Returns an account.',
  ...oneAccount,
  response: AdminAccount,
  run: ({ found }) => printAccount(found),
});

const updateAccount = route(admin, {
  method: 'PATCH',
  path: '/admin/accounts/{id}',
  operationId: 'adminUpdateAccount',
  tag,
  summary: 'Changes an account: all given fields, or none.',
  description:
    'Changing its rights or deactivating it ends the sessions of the account. The last global admin cannot be deactivated or lose this right. A new email address takes effect immediately. The old address is notified if the service sends mail.',
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
    const [old, now] = [toldAccount(before), toldAccount(account)];
    const isSame = JSON.stringify(old) === JSON.stringify(now);
    audit(
      isSame
        ? undefined
        : { accountId: account.id, target: { name: account.email }, before: old, after: now },
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

const makeAccountLink = route(admin, {
  method: 'POST',
  path: '/admin/accounts/{id}/links',
  operationId: 'adminMakeLink',
  tag,
  summary: 'Creates a link for the owner of an account. It can be used once.',
  description:
    'Anyone who opens the link has access to the account: give it only to the owner. A repeated call with the same Idempotency-Key returns the response without the link.',
  audit: 'account.link',
  ...oneAccount,
  body: LinkOrder,
  response: AccountLink,
  withoutSecrets: ({ link: _, ...rest }) => rest,
  problems: ['wrong_state'],
  async run({ api, people, found, body: { kind }, audit }) {
    const { id: accountId, email, active } = found;
    if (!active) return problem('wrong_state', 'the account is inactive: activate it first');
    const token = await makeLink(api.db, { kind, accountId });
    audit({ accountId, target: { name: email }, after: { kind } });
    return { kind, expires_in_minutes: LINK_MINUTES[kind], link: linkTo(people.publicUrl, kind, token) };
  },
});

const listAccountKeys = route(admin, {
  method: 'GET',
  path: '/admin/accounts/{id}/keys',
  operationId: 'adminListKeys',
  tag,
  summary: 'Lists the API keys of an account, including revoked ones.',
  ...oneAccount,
  response: z.array(Key.extend({ revoked_at: z.string().optional() }).meta({ id: 'AdminKey' })),
  async run({ api, found }) {
    const keys = await listApiKeys(api.db, found.id);
    return keys.map((key) => ({
      ...printKey(key),
      ...(key.revokedAt !== null && { revoked_at: key.revokedAt.toISOString() }),
    }));
  },
});

const revokeAccountKey = route(admin, {
  method: 'DELETE',
  path: '/admin/accounts/{id}/keys/{key}',
  operationId: 'adminRevokeKey',
  tag,
  summary: 'Revokes an API key of an account immediately and permanently.',
  audit: 'key.revoke',
  ...oneAccount,
  params: z.object({ id: idText, key: idText }),
  response: Message,
  async run({ api, found, params, audit }) {
    const revoked = await revokeOwnKey(api.db, found.id, params.key);
    if (revoked === undefined) return notFound('key');
    audit(keyNote(revoked, 'before'));
    return { message: 'the key was revoked' };
  },
});

export const ADMIN_ACCOUNT_ROUTES: readonly Route[] = [
  listAccounts,
  createOneAccount,
  getAccount,
  updateAccount,
  makeAccountLink,
  listAccountKeys,
  revokeAccountKey,
];
