// Routes of wallets and invoices (docs/api.md "Money").

import { z } from 'zod';
import { PAGE_POLICY } from '../../api/answers/html.ts';
import { notFound } from '../../api/answers/problem.ts';
import { StreamedText } from '../../api/answers/streams.ts';
import { answerList, type ListCall, logQuery, pagesById } from '../../api/calls/answer-list.ts';
import { account, domain, type Route, route } from '../../api/calls/route.ts';
import { idText } from '../../api/schemas/fields.ts';
import { invoiceNumber } from '../../billing/invoice.ts';
import { floorOf } from '../../billing/ledger.ts';
import type { Database } from '../../store/postgres/database.ts';
import { invoicePage } from './pages.ts';
import { printInvoice } from './print.ts';
import { purchaseSubscription, setAutoRenew, switchSubscription } from './routes-buying.ts';
import { cancelOneTopup, listTopups, notePayment, orderOneTopup, showTopup } from './routes-topups.ts';
import { Invoice, Transaction, Wallet } from './schema.ts';
import { countInvoices, listInvoices, loadInvoice, type Invoice as StoredInvoice } from './sql-invoices.ts';
import {
  countTransactions,
  listTransactions,
  loadBalance,
  type Transaction as StoredTransaction,
} from './sql-wallet.ts';

const tag = 'Money';
const READ_AT_ONCE = 500;

const getWallet = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/wallet',
  operationId: 'getWallet',
  tag,
  summary: 'The balance of your wallet.',
  response: Wallet,
  async run({ api, caller }) {
    const { id, isReseller } = caller.account;
    return {
      balance_rials: await loadBalance(api.db, id),
      overdraft_rials: Math.abs(floorOf({ isReseller }, api.maxNegativeRials ?? 0)),
    };
  },
});

const listWalletTransactions = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/wallet/transactions',
  operationId: 'listWalletTransactions',
  tag,
  summary: 'The transactions of your wallet, newest first.',
  description: 'Transactions are never changed or deleted. The balance is their sum.',
  query: z.object(logQuery('newest')),
  response: z.array(Transaction),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const filter = { accountId: call.caller.account.id, after: call.query.after };
    return answerList(call, {
      load: pagesById<StoredTransaction>(
        call.query.sort?.descends ?? true,
        (page) => listTransactions(db, filter, page),
        ({ id }) => id,
      ),
      count: () => countTransactions(db, filter),
      print: async (rows) => rows.map(print),
      readAtOnce: READ_AT_ONCE,
    });
  },
});

function print(row: StoredTransaction): z.input<typeof Transaction> {
  const { id, amountRials, balanceRials, refType, refId, description, createdAt } = row;
  return {
    id,
    amount_rials: amountRials,
    balance_rials: balanceRials,
    ref_type: refType,
    ...(refId !== null && { ref_id: refId }),
    description,
    created_at: createdAt.toISOString(),
  };
}

const QUERY = z.object(logQuery('newest'));
const listed = {
  query: QUERY,
  response: z.array(Invoice),
  answerHeaders: ['Link', 'X-Total-Count'],
} as const;

interface InvoiceCall extends ListCall {
  readonly query: z.output<typeof QUERY>;
}

function answer(db: Database, call: InvoiceCall, of: { accountId: number; domainId?: number }) {
  const filter = { ...of, after: call.query.after };
  return answerList(call, {
    load: pagesById<StoredInvoice>(
      call.query.sort?.descends ?? true,
      (page) => listInvoices(db, filter, page),
      ({ id }) => id,
    ),
    count: () => countInvoices(db, filter),
    print: async (invoices) => invoices.map(printInvoice),
  });
}

const listOwnInvoices = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/invoices',
  operationId: 'listInvoices',
  tag,
  summary: 'Your invoices, newest first.',
  ...listed,
  run: (call) => answer(call.api.db, call, { accountId: call.caller.account.id }),
});

const listDomainInvoices = route(domain('billing', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path: '/domains/{domain}/invoices',
  operationId: 'listDomainInvoices',
  tag,
  summary: 'Invoices of a domain, newest first.',
  description: 'Only those of the current owner, not those of an account that had the domain before.',
  ...listed,
  run: ({ domain, ...call }) =>
    answer(call.api.db, call, { accountId: domain.accountId, domainId: domain.id }),
});

const one = { params: z.object({ id: idText }), finds: 'invoice' } as const;

const getInvoice = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/invoices/{id}',
  operationId: 'getInvoice',
  tag,
  summary: 'One of your invoices.',
  ...one,
  response: Invoice,
  async run({ api, caller, params }) {
    const invoice = await loadInvoice(api.db, { id: params.id, accountId: caller.account.id });
    return invoice === undefined ? notFound('invoice') : printInvoice(invoice);
  },
});

const showInvoice = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/invoices/{id}/print',
  operationId: 'showInvoice',
  tag,
  summary: 'One of your invoices, as a page for printing.',
  ...one,
  response: z.string(),
  textResponse: 'text/html',
  answerHeaders: ['Content-Security-Policy'],
  async run({ api, caller, params, answerHeader }) {
    const invoice = await loadInvoice(api.db, { id: params.id, accountId: caller.account.id });
    if (invoice === undefined) return notFound('invoice');
    answerHeader('Content-Security-Policy', PAGE_POLICY);
    // Old invoices have no stored seller: show the current one.
    const seller = invoice.seller ?? api.payments.seller ?? '';
    return new StreamedText(invoicePage({ ...invoice, seller, number: invoiceNumber(invoice) }));
  },
});

export const MONEY_ROUTES: readonly Route[] = [
  purchaseSubscription,
  switchSubscription,
  setAutoRenew,
  getWallet,
  listWalletTransactions,
  orderOneTopup,
  listTopups,
  cancelOneTopup,
  showTopup,
  notePayment,
  listOwnInvoices,
  getInvoice,
  showInvoice,
  listDomainInvoices,
];
