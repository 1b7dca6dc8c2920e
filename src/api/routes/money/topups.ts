// Top-ups of one's own wallet: order one, list them, and the page that says what to pay.

import { z } from 'zod';
import { MOST_NEW_TOPUPS, MOST_OPEN_TOPUPS, stateOf } from '../../../billing/topup.ts';
import { toldPayment } from '../../../store/audit/told-money.ts';
import { countPayments, listPayments } from '../../../store/money/list-payments.ts';
import {
  cancelTopup,
  findPayment,
  orderTopup,
  type Payment,
  REFERENCE,
} from '../../../store/money/payments.ts';
import { invalid, notFound, Problem, problem } from '../../answers/problem.ts';
import { StreamedText } from '../../answers/stream-text.ts';
import { accountRoute, sessionRoute } from '../../calls/route.ts';
import { answerList, logQuery, pagesById } from '../../lists/paging.ts';
import { PAGE_POLICY } from '../../pages/html.ts';
import { topupPage } from '../../pages/topup-page.ts';
import { printTopup } from '../../print/money/print-payment.ts';
import { idText } from '../../schemas/ids.ts';
import { NewTopup, OrderedTopup, Topup, TopupState } from '../../schemas/money/topup.ts';

const tag = 'Money';

export const orderOneTopup = sessionRoute({
  method: 'POST',
  path: '/wallet/topup',
  operationId: 'orderTopup',
  tag,
  summary: 'Orders a top-up of your wallet, to be paid at `payment_url`.',
  description: `Of an account ${MOST_OPEN_TOPUPS} may be open, and ${MOST_NEW_TOPUPS} be ordered in 24 hours. What is credited is the amount that was ordered, once it is paid.`,
  audit: 'wallet.topup',
  body: NewTopup,
  response: OrderedTopup,
  conflicts: true,
  async run({ api, caller, people, body, audit }) {
    const { gateways } = api.payments;
    const { gateway: wanted = gateways.keys().next().value as string, amount_rials: amountRials } = body;
    const gateway = gateways.get(wanted);
    if (gateway === undefined) {
      const error = `expected ${[...gateways.keys()].join(' or ')}`;
      return invalid([{ field: 'gateway', error }]);
    }
    const accountId = caller.account.id;
    const ordered = await orderTopup(api.db, { accountId, gateway: gateway.name, amountRials });
    if (ordered.kind === 'full')
      return new Problem(409, `${MOST_OPEN_TOPUPS} top-ups are open: pay or cancel one`);
    if (ordered.kind === 'too_often') {
      const headers = { 'Retry-After': String(ordered.waitSeconds) };
      return new Problem(429, `${MOST_NEW_TOPUPS} top-ups were ordered within a day`, { headers });
    }
    const { payment } = ordered;
    const { id, reference, createdAt: at } = payment;
    audit({ after: { payment: id, gateway: gateway.name, amount_rials: amountRials } });
    const pageUrl = `${people.publicUrl}/wallet/topups/${reference}/page`;
    const url = gateway.paymentUrl({ reference, amountRials, pageUrl, at });
    return { ...printTopup(payment), payment_url: url };
  },
});

export const listTopups = accountRoute({
  method: 'GET',
  path: '/wallet/topups',
  operationId: 'listTopups',
  tag,
  summary: 'Your top-ups, newest first.',
  description:
    'Those that nobody paid are kept for 90 days. `state=open` lists those that can be paid or cancelled.',
  wholeKeys: true,
  query: z.object({ state: TopupState.optional(), ...logQuery('newest') }),
  response: z.array(Topup),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { state, after } = call.query;
    const filter = { accountId: call.caller.account.id, state, after };
    return answerList(call, {
      load: pagesById<Payment>(
        call.query.sort?.descends ?? true,
        (page) => listPayments(db, filter, page),
        ({ id }) => id,
      ),
      count: () => countPayments(db, filter),
      print: async (payments) => payments.map(printTopup),
    });
  },
});

export const cancelOneTopup = sessionRoute({
  method: 'DELETE',
  path: '/wallet/topups/{id}',
  operationId: 'cancelTopup',
  tag,
  summary: 'Cancels a top-up of yours that is open.',
  description: 'It is listed as `cancelled`. What is paid for it all the same is credited.',
  audit: 'wallet.cancel',
  params: z.object({ id: idText }),
  finds: 'top-up',
  response: Topup,
  problems: ['wrong_state'],
  async run({ api, caller, params, audit }) {
    const cancelled = await cancelTopup(api.db, { accountId: caller.account.id, id: params.id });
    if (cancelled.kind === 'absent') return notFound('top-up');
    if (cancelled.kind === 'wrong_state')
      return problem('wrong_state', `the top-up is ${cancelled.state}: only an open one is cancelled`);
    audit({ before: toldPayment(cancelled.payment) });
    return printTopup(cancelled.payment);
  },
});

export const showTopup = sessionRoute({
  method: 'GET',
  path: '/wallet/topups/{reference}/page',
  operationId: 'showTopup',
  tag,
  summary: 'What to pay for a top-up, and whether it is paid: a page for a browser that is signed in.',
  params: z.object({ reference: z.string().regex(REFERENCE) }),
  finds: 'top-up',
  response: z.string(),
  textResponse: 'text/html',
  answerHeaders: ['Content-Security-Policy'],
  async run({ api, caller, params: { reference }, answerHeader }) {
    const payment = await findPayment(api.db, { accountId: caller.account.id, reference });
    if (payment === undefined) return notFound('top-up');
    answerHeader('Content-Security-Policy', PAGE_POLICY);
    const { amountRials, expiresAt, gateway, now } = payment;
    const instructions = gateway === 'manual' ? api.payments.instructions : undefined;
    const state = stateOf(payment, now);
    return new StreamedText(topupPage({ reference, amountRials, expiresAt, state, instructions }));
  },
});
