// The invoices of an account, those of one of its domains, and one as data or for printing.

import { z } from 'zod';
import { invoiceNumber } from '../../../billing/invoice.ts';
import {
  countInvoices,
  listInvoices,
  loadInvoice,
  type Invoice as StoredInvoice,
} from '../../../store/money/load-invoices.ts';
import type { Database } from '../../../store/postgres/database.ts';
import { notFound } from '../../answers/problem.ts';
import { StreamedText } from '../../answers/stream-text.ts';
import { accountRoute, domainRoute } from '../../calls/route.ts';
import { answerList, type ListCall, logQuery, pagesById } from '../../lists/paging.ts';
import { PAGE_POLICY } from '../../pages/html.ts';
import { invoicePage } from '../../pages/invoice-page.ts';
import { printInvoice } from '../../print/money/print-invoice.ts';
import { idText } from '../../schemas/ids.ts';
import { Invoice } from '../../schemas/money/invoice.ts';

const tag = 'Money';
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

export const listOwnInvoices = accountRoute({
  method: 'GET',
  path: '/invoices',
  operationId: 'listInvoices',
  tag,
  summary: 'Your invoices, newest first.',
  wholeKeys: true,
  ...listed,
  run: (call) => answer(call.api.db, call, { accountId: call.caller.account.id }),
});

export const listDomainInvoices = domainRoute({
  method: 'GET',
  path: '/domains/{domain}/invoices',
  operationId: 'listDomainInvoices',
  tag,
  summary: 'What its owner was charged for a domain, newest first.',
  description: 'Not what an account was charged that had the domain before.',
  permission: 'billing',
  wholeKeys: true,
  whileDisabled: true,
  ...listed,
  run: ({ domain, ...call }) =>
    answer(call.api.db, call, { accountId: domain.accountId, domainId: domain.id }),
});

const one = { params: z.object({ id: idText }), finds: 'invoice', wholeKeys: true } as const;

export const getInvoice = accountRoute({
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

export const showInvoice = accountRoute({
  method: 'GET',
  path: '/invoices/{id}/print',
  operationId: 'showInvoice',
  tag,
  summary: 'One of your invoices, as a page to be printed.',
  ...one,
  response: z.string(),
  textResponse: 'text/html',
  answerHeaders: ['Content-Security-Policy'],
  async run({ api, caller, params, answerHeader }) {
    const invoice = await loadInvoice(api.db, { id: params.id, accountId: caller.account.id });
    if (invoice === undefined) return notFound('invoice');
    answerHeader('Content-Security-Policy', PAGE_POLICY);
    // One that was made before its seller was stored has none but that of now.
    const seller = invoice.seller ?? api.payments.seller ?? '';
    return new StreamedText(invoicePage({ ...invoice, seller, number: invoiceNumber(invoice) }));
  },
});
