// Routes for operators to list and confirm top-ups.

import { z } from 'zod';
import { notFound, Problem, problem } from '../../api/answers/problem.ts';
import { answerList, logQuery, pagesById } from '../../api/calls/answer-list.ts';
import { admin, route } from '../../api/calls/route.ts';
import { idText, integerText } from '../../api/schemas/fields.ts';
import { toldPayment } from '../../store/audit/audit-notes.ts';
import { printPayment } from './print.ts';
import { AdminPayment, TopupState } from './schema.ts';
import { countPayments, creditTopup, listPayments, loadPayment, type Payment } from './sql-payments.ts';

const tag = 'Money';

const list = route(admin, {
  method: 'GET',
  path: '/admin/payments',
  operationId: 'adminListPayments',
  tag,
  summary: 'Top-ups of all accounts, newest first.',
  query: z.object({
    state: TopupState.optional(),
    user: integerText(1, Number.MAX_SAFE_INTEGER).optional().describe('Only top-ups of this account.'),
    ...logQuery('newest'),
  }),
  response: z.array(AdminPayment),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { state, user, after, sort } = call.query;
    const filter = { state, accountId: user, after };
    return answerList(call, {
      load: pagesById<Payment>(
        sort?.descends ?? true,
        (page) => listPayments(db, filter, page),
        ({ id }) => id,
      ),
      count: () => countPayments(db, filter),
      print: async (payments) => payments.map(printPayment),
    });
  },
});

const confirm = route(admin, {
  method: 'POST',
  path: '/admin/payments/{id}/confirm',
  operationId: 'adminConfirmPayment',
  tag,
  summary: 'Credits a top-up whose payment you have received.',
  description:
    'Works for any gateway, even if the top-up is no longer open. A later confirmation by the gateway does not credit it again.',
  audit: 'wallet.credit',
  params: z.object({ id: idText }),
  find: ({ api, params }) => loadPayment(api.db, params.id),
  finds: 'top-up',
  response: AdminPayment,
  problems: ['wrong_state'],
  conflicts: true,
  async run({ api, found, audit }) {
    const paid = await creditTopup(api.db, { id: found.id });
    if (paid.kind === 'absent' || paid.kind === 'differs') return notFound('top-up');
    if (paid.kind === 'already') return problem('wrong_state', 'the top-up is already paid');
    if (paid.kind === 'full')
      return new Problem(409, 'the balance would exceed the largest amount that a wallet can hold');
    const { payment, balanceRials } = paid;
    const after = { ...toldPayment(payment), balance_rials: balanceRials };
    audit({ accountId: payment.accountId, target: { name: payment.email }, after });
    return printPayment(payment);
  },
});

export const PAYMENT_ROUTES = [list, confirm];
