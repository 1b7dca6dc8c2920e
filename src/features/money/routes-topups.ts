// Routes of top-ups, and the notices of payment gateways.

import { z } from 'zod';
import { PAGE_POLICY } from '../../api/answers/html.ts';
import { invalid, notFound, Problem, problem } from '../../api/answers/problem.ts';
import { StreamedText } from '../../api/answers/streams.ts';
import { answerList, logQuery, pagesById } from '../../api/calls/answer-list.ts';
import { account, gateway, route, session } from '../../api/calls/route.ts';
import { idText, Message } from '../../api/schemas/fields.ts';
import { MOST_NEW_TOPUPS, MOST_OPEN_TOPUPS, stateOf } from '../../billing/topup.ts';
import { toldPayment } from '../../store/audit/audit-notes.ts';
import { writeAudit } from '../../store/audit/write-audit.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { topupPage } from './pages.ts';
import { printTopup } from './print.ts';
import { NewTopup, OrderedTopup, PaymentNotice, Topup, TopupState } from './schema.ts';
import {
  cancelTopup,
  countPayments,
  creditTopup,
  findPayment,
  listPayments,
  orderTopup,
  type Payment,
  REFERENCE,
} from './sql-payments.ts';

const tag = 'Money';

export const orderOneTopup = route(session(), {
  method: 'POST',
  path: '/wallet/topup',
  operationId: 'orderTopup',
  tag,
  summary: 'Orders a top-up of your wallet, which you pay at `payment_url`.',
  description: `An account may have ${MOST_OPEN_TOPUPS} open top-ups, and order ${MOST_NEW_TOPUPS} in 24 hours. Once a top-up is paid, the ordered amount is credited.`,
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

export const listTopups = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/wallet/topups',
  operationId: 'listTopups',
  tag,
  summary: 'Your top-ups, newest first.',
  description: 'Unpaid top-ups are kept for 90 days. `state=open` lists those that can be paid or cancelled.',
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

export const cancelOneTopup = route(session(), {
  method: 'DELETE',
  path: '/wallet/topups/{id}',
  operationId: 'cancelTopup',
  tag,
  summary: 'Cancels one of your open top-ups.',
  description: 'It is listed as `cancelled`. A payment that arrives nevertheless is credited.',
  audit: 'wallet.cancel',
  params: z.object({ id: idText }),
  finds: 'top-up',
  response: Topup,
  problems: ['wrong_state'],
  async run({ api, caller, params, audit }) {
    const cancelled = await cancelTopup(api.db, { accountId: caller.account.id, id: params.id });
    if (cancelled.kind === 'absent') return notFound('top-up');
    if (cancelled.kind === 'wrong_state')
      return problem('wrong_state', `the top-up is ${cancelled.state}: only open top-ups can be cancelled`);
    audit({ before: toldPayment(cancelled.payment) });
    return printTopup(cancelled.payment);
  },
});

export const showTopup = route(session(), {
  method: 'GET',
  path: '/wallet/topups/{reference}/page',
  operationId: 'showTopup',
  tag,
  summary: 'Payment instructions and state of a top-up, as a page for a signed-in browser.',
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

const NOTICE_BYTES = 4096;

export const notePayment = route(gateway, {
  method: 'POST',
  path: '/payments/{gateway}',
  operationId: 'notePayment',
  tag: 'Money',
  summary: 'Reports that a top-up was paid. For payment gateways.',
  description:
    'A notice may arrive several times, even concurrently: the top-up is credited once, with the ordered amount. A notice with another amount is rejected (409).',
  params: z.object({ gateway: z.string() }),
  audit: { inHandler: 'wallet.credit' },
  bodyBytes: NOTICE_BYTES,
  body: PaymentNotice,
  response: Message,
  conflicts: true,
  async run({ api, gateway, body, log }) {
    const { reference, amount_rials: amountRials } = body;
    return await inTransaction(api.db, async (trx) => {
      const paid = await creditTopup(trx, { gateway, reference, amountRials });
      const by = { kind: 'system', name: `gateway ${gateway}` } as const;
      if (paid.kind === 'absent') return notFound('top-up');
      const { payment } = paid;
      const about = { accountId: payment.accountId, target: { name: payment.email } };
      if (paid.kind === 'credited') {
        const after = { ...toldPayment(payment), balance_rials: paid.balanceRials };
        await writeAudit(trx, { action: 'wallet.credit', by, ...about, after });
      }
      if (paid.kind === 'differs') {
        const after = { ...toldPayment(payment), amount_rials: amountRials };
        if (paid.isNews) await writeAudit(trx, { action: 'wallet.refuse', by, ...about, after });
        log.warn({ payment: payment.id, gateway }, 'a gateway reported another amount than was ordered');
        return new Problem(409, 'the amount differs from that of the top-up: nothing is credited');
      }
      if (paid.kind === 'full') {
        log.error(
          { payment: payment.id, gateway },
          'a top-up would exceed the largest amount that a wallet can hold',
        );
        return new Problem(
          409,
          'the balance would exceed the largest amount that a wallet can hold: nothing is credited',
        );
      }
      return { message: 'the top-up is credited' };
    });
  },
});
