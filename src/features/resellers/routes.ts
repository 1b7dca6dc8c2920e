// Routes of clients, and of money between a reseller and a client (docs/reseller.md).

import { z } from 'zod';
import { forbidden, Problem } from '../../api/answers/problem.ts';
import { answerList, PAGE_QUERY } from '../../api/calls/answer-list.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { notOwned } from '../../api/calls/find-domain.ts';
import { reseller, route } from '../../api/calls/route.ts';
import {
  countAccounts,
  type ListedAccount,
  listAccountPage,
  loadClient,
  loadListedAccount,
} from '../../store/accounts/account-lists.ts';
import { readEmail } from '../../store/accounts/accounts.ts';
import { toldAccount } from '../../store/audit/audit-notes.ts';
import { setName } from '../../store/people/credentials.ts';
import { orderMail } from '../../store/people/mails.ts';
import { loadBalance } from '../money/sql-wallet.ts';
import {
  Client,
  ClientChange,
  ClientWallet,
  NewClient,
  ResellerWallet,
  TransferOrder,
  TransferResult,
} from './schema.ts';
import { createClient, switchClient, takeClientTry, transfer } from './sql-clients.ts';

const tag = 'Reseller';
const CLIENT = '/reseller/v1/clients/{clientId}';
const CLIENT_ID = /^[1-9][0-9]{0,14}$/;

type Finding = CallOf<'reseller', { clientId: string }>;

/** Fields shared by the routes for one client. A text that is not an id is treated as an id that does not exist. */
const oneClient = {
  params: z.object({ clientId: z.string().meta({ type: 'integer', minimum: 1 }) }),
  async find({ api, caller, params: { clientId } }: Finding): Promise<ListedAccount | Problem> {
    const id = CLIENT_ID.test(clientId) ? Number(clientId) : 0;
    return (await loadClient(api.db, caller.account.id, id)) ?? notOwned();
  },
};

const list = route(reseller(), {
  method: 'GET',
  path: '/reseller/v1/clients',
  operationId: 'listClients',
  tag,
  summary: 'Your clients, newest first.',
  query: z.object({
    search: z.string().max(254).optional().describe('Part of the email or of the name.'),
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

const create = route(reseller(), {
  method: 'POST',
  path: '/reseller/v1/clients',
  operationId: 'createClient',
  audit: 'account.create',
  tag,
  summary: 'Creates a client.',
  description:
    'A client is a separate account that you manage. Its email must not belong to another account (409). If mail is sent, the email counts as confirmed once its owner opens the link that is mailed there. At most 100 of these calls per day, successful or not (429).',
  body: NewClient,
  response: Client,
  conflicts: true,
  // In `find`, because a refusal rolls back the transaction of an Idempotency-Key.
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

const get = route(reseller(), {
  method: 'GET',
  path: CLIENT,
  operationId: 'getClient',
  tag,
  summary: 'One client.',
  ...oneClient,
  response: Client,
  run: ({ found }) => printClient(found),
});

const update = route(reseller(), {
  method: 'PATCH',
  path: CLIENT,
  operationId: 'updateClient',
  audit: 'account.update',
  tag,
  summary: 'Changes the name of a client.',
  description: 'You cannot change its email, because anyone who has the email can sign in.',
  ...oneClient,
  body: ClientChange,
  response: Client,
  async run({ api, found, body, audit }) {
    await setName(api.db, found.id, body.name);
    const now = (await loadListedAccount(api.db, found.id)) as ListedAccount;
    const isSame = now.name === found.name;
    const sides = { before: toldAccount(found), after: toldAccount(now) };
    audit(isSame ? undefined : { accountId: found.id, target: { name: found.email }, ...sides });
    return printClient(now);
  },
});

const switching = (active: boolean) =>
  route(reseller(), {
    method: 'POST',
    path: `${CLIENT}/${active ? 'activate' : 'deactivate'}`,
    operationId: active ? 'activateClient' : 'deactivateClient',
    audit: 'account.update',
    tag,
    summary: active
      ? 'Reactivates a client.'
      : 'Deactivates a client: every call of the account is rejected.',
    description: active
      ? 'Only for clients that you deactivated. A client that the operator deactivated can be reactivated only by the operator (409).'
      : 'Its sessions end. Its domains are still served, and you operate them as before.',
    ...oneClient,
    response: Client,
    conflicts: true,
    async run({ api, caller, found, audit }) {
      const by = { resellerId: caller.account.id, clientId: found.id, active };
      const came = await switchClient(api.db, by);
      if (came.kind === 'absent') return notOwned();
      if (came.kind === 'refused') return new Problem(409, came.message);
      const sides = { before: toldAccount(found), after: toldAccount(came.account) };
      audit(came.isChanged ? { accountId: found.id, target: { name: found.email }, ...sides } : undefined);
      return printClient((await loadListedAccount(api.db, found.id)) as ListedAccount);
    },
  });

const clientWallet = route(reseller(), {
  method: 'GET',
  path: `${CLIENT}/wallet`,
  operationId: 'getClientWallet',
  tag,
  summary: 'The balance of a client’s wallet.',
  ...oneClient,
  response: ClientWallet,
  run: async ({ api, found }) => ({ balance_rials: await loadBalance(api.db, found.id) }),
});

const ownWallet = route(reseller(), {
  method: 'GET',
  path: '/reseller/v1/wallet',
  operationId: 'getResellerWallet',
  tag,
  summary: 'The balance of your own wallet.',
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

const ONCE =
  'The `Idempotency-Key` is kept permanently: a repeat returns the first response, and another path or body results in a 422. A rejected request stores nothing, so the same key may be used again.';

const moving = (direction: 'credit' | 'debit', summary: string, description: string) =>
  route(reseller(), {
    method: 'POST',
    path: `/reseller/v1/clients/{clientId}/${direction}`,
    operationId: `${direction}Client`,
    audit: `client.${direction}`,
    tag: 'Reseller',
    summary,
    description: `${description} ${ONCE}`,
    idempotent: 'required',
    keptForEver: true,
    ...oneClient,
    body: TransferOrder,
    response: TransferResult,
    statuses: [402],
    conflicts: true,
    async run({ api, caller, found, body, audit }) {
      const moved = await transfer(api.db, {
        resellerId: caller.account.id,
        clientId: found.id,
        direction,
        amountRials: body.amount_rials,
        description: body.description,
      });
      switch (moved.kind) {
        case 'not_owned':
          return notOwned();
        case 'short':
          return new Problem(
            402,
            direction === 'credit'
              ? 'the balance of your wallet is too low'
              : "the balance of the client's wallet is too low",
          );
        case 'too_often':
          return new Problem(429, 'the daily limit for transfers is reached', {
            code: 'rate_limited',
            headers: { 'Retry-After': String(moved.waitSeconds) },
          });
        case 'full':
          return new Problem(409, 'the balance would exceed the largest amount that a wallet can hold');
        case 'moved':
          audit({
            target: { id: found.id, name: found.email },
            after: { amount_rials: body.amount_rials },
          });
          return {
            amount_rials: body.amount_rials,
            reseller_balance_rials: moved.resellerRials,
            client_balance_rials: moved.clientRials,
          };
      }
    },
  });

export const TRANSFER_ROUTES = [
  moving(
    'credit',
    'Moves money from your wallet to a client’s.',
    'Only up to the balance of your wallet, because the overdraft is for purchases. It is never needed before a purchase, which transfers the missing amount itself.',
  ),
  moving(
    'debit',
    'Moves money from a client’s wallet to yours.',
    'Only up to the balance of the client’s wallet, whatever the source of the money. No subscription is cancelled.',
  ),
];
