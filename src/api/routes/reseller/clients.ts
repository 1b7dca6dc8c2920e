// /reseller/v1/clients: the accounts that a reseller manages. One that is somebody else's, or nobody's, is refused alike.

import { z } from 'zod';
import {
  countAccounts,
  type ListedAccount,
  listAccountPage,
  loadClient,
  loadListedAccount,
} from '../../../store/accounts/account-lists.ts';
import { readEmail } from '../../../store/accounts/email-address.ts';
import { toldAccount } from '../../../store/audit/told-fields.ts';
import { loadBalance } from '../../../store/money/load-wallet.ts';
import { setName } from '../../../store/people/credentials.ts';
import { orderMail } from '../../../store/people/mails.ts';
import { createClient, switchClient, takeClientTry } from '../../../store/resellers/clients.ts';
import { forbidden, Problem } from '../../answers/problem.ts';
import type { ResellerCall } from '../../calls/call.ts';
import { notOwned } from '../../calls/find-domain.ts';
import { resellerRoute } from '../../calls/route.ts';
import { answerList, PAGE_QUERY } from '../../lists/paging.ts';
import {
  Client,
  ClientChange,
  ClientWallet,
  NewClient,
  ResellerWallet,
} from '../../schemas/reseller/client.ts';

const tag = 'Reseller';
const CLIENT = '/reseller/v1/clients/{clientId}';
const CLIENT_ID = /^[1-9][0-9]{0,14}$/;

type Finding = ResellerCall<{ clientId: string }, unknown, unknown, undefined>;

/** For routes below one client. What is no id is asked for as one that nothing has. */
export const oneClient = {
  params: z.object({ clientId: z.string().meta({ type: 'integer', minimum: 1 }) }),
  async find({ api, caller, params: { clientId } }: Finding): Promise<ListedAccount | Problem> {
    const id = CLIENT_ID.test(clientId) ? Number(clientId) : 0;
    return (await loadClient(api.db, caller.account.id, id)) ?? notOwned();
  },
};

const list = resellerRoute({
  method: 'GET',
  path: '/reseller/v1/clients',
  operationId: 'listClients',
  tag,
  summary: 'Your clients, the newest first.',
  query: z.object({
    search: z.string().max(254).optional().describe('A part of the email or the name.'),
    status: z.enum(['active', 'inactive']).optional(),
    ...PAGE_QUERY,
  }),
  response: z.array(Client),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { search, status } = call.query;
    const filter = {
      search: search?.normalize('NFC'),
      active: status === undefined ? undefined : status === 'active',
      providerId: call.caller.account.id,
    };
    return answerList(call, {
      load: (page) => listAccountPage(db, filter, { sort: 'created_at', descending: true }, page),
      count: () => countAccounts(db, filter),
      print: async (clients) => clients.map(printClient),
    });
  },
});

const create = resellerRoute({
  method: 'POST',
  path: '/reseller/v1/clients',
  operationId: 'createClient',
  audit: 'account.create',
  tag,
  summary: 'Make a client.',
  description:
    'An account of its own, which you manage. Its email must be no account’s (409), and counts as confirmed once its owner opens the link that is mailed there, where mail is sent. At most 100 of these calls in a day, whether or not they make a client: 429.',
  body: NewClient,
  response: Client,
  conflicts: true,
  // Before the transaction of an Idempotency-Key, which a refusal rolls back.
  async find({ api, caller }) {
    const seconds = await takeClientTry(api.db, caller.account.id);
    if (seconds === undefined) return true;
    const headers = { 'Retry-After': String(seconds) };
    return new Problem(429, 'the daily limit for new clients is reached', { code: 'rate_limited', headers });
  },
  async run({ api, caller, people, body, audit }) {
    const email = readEmail(body.email) as string;
    const created = await createClient(api.db, caller.account.id, { email, name: body.name ?? null });
    if (created.kind === 'no_reseller') return forbidden('this account is not a reseller');
    if (created.kind === 'taken') return new Problem(409, created.message);
    const { account } = created;
    if (people.sendsMail) await orderMail(api.db, 'reset', account.email);
    audit({ accountId: account.id, target: { name: account.email }, after: toldAccount(account) });
    return printClient((await loadListedAccount(api.db, account.id)) as ListedAccount);
  },
});

const get = resellerRoute({
  method: 'GET',
  path: CLIENT,
  operationId: 'getClient',
  tag,
  summary: 'One client.',
  ...oneClient,
  response: Client,
  run: ({ found }) => printClient(found),
});

const update = resellerRoute({
  method: 'PATCH',
  path: CLIENT,
  operationId: 'updateClient',
  audit: 'account.update',
  tag,
  summary: 'Change the name of a client.',
  description: 'Its email is its own: whoever has it can sign in.',
  ...oneClient,
  body: ClientChange,
  response: Client,
  async run({ api, found, body, audit }) {
    await setName(api.db, found.id, body.name);
    const now = (await loadListedAccount(api.db, found.id)) as ListedAccount;
    const isSame = now.name === found.name;
    const told = { before: toldAccount(found), after: toldAccount(now) };
    audit(isSame ? undefined : { accountId: found.id, target: { name: found.email }, ...told });
    return printClient(now);
  },
});

const switching = (active: boolean) =>
  resellerRoute({
    method: 'POST',
    path: `${CLIENT}/${active ? 'activate' : 'deactivate'}`,
    operationId: active ? 'activateClient' : 'deactivateClient',
    audit: 'account.update',
    tag,
    summary: active
      ? 'Activate a client again.'
      : 'Deactivate a client: every call of the account is refused.',
    description: active
      ? 'Of those whom you have deactivated: what the operator has deactivated only the operator activates (409).'
      : 'Its sessions end. Its domains are served, and you operate them as before.',
    ...oneClient,
    response: Client,
    conflicts: true,
    async run({ api, caller, found, audit }) {
      const by = { resellerId: caller.account.id, clientId: found.id, active };
      const came = await switchClient(api.db, by);
      if (came.kind === 'absent') return notOwned();
      if (came.kind === 'refused') return new Problem(409, came.message);
      const told = { before: toldAccount(found), after: toldAccount(came.account) };
      audit(came.isChanged ? { accountId: found.id, target: { name: found.email }, ...told } : undefined);
      return printClient((await loadListedAccount(api.db, found.id)) as ListedAccount);
    },
  });

const clientWallet = resellerRoute({
  method: 'GET',
  path: `${CLIENT}/wallet`,
  operationId: 'getClientWallet',
  tag,
  summary: 'What a client’s wallet holds.',
  ...oneClient,
  response: ClientWallet,
  run: async ({ api, found }) => ({ balance_rials: await loadBalance(api.db, found.id) }),
});

const ownWallet = resellerRoute({
  method: 'GET',
  path: '/reseller/v1/wallet',
  operationId: 'getResellerWallet',
  tag,
  summary: 'What your own wallet holds.',
  response: ResellerWallet,
  run: async ({ api, caller }) => ({
    balance_rials: await loadBalance(api.db, caller.account.id),
    overdraft_rials: api.maxNegativeRials ?? 0,
  }),
});

export const CLIENT_ROUTES = [
  list,
  create,
  get,
  update,
  switching(false),
  switching(true),
  clientWallet,
  ownWallet,
];

function printClient(client: ListedAccount): z.input<typeof Client> {
  return {
    id: client.id,
    email: client.email,
    email_confirmed: client.isEmailConfirmed,
    ...(client.name !== null && { name: client.name }),
    active: client.active,
    password_set: client.hasPassword,
    domains: client.domains,
    created_at: client.createdAt.toISOString(),
  };
}
