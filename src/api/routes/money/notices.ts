// What gateways tell of top-ups that were paid. Who tells it is known by the signature, before anything is read.

import { z } from 'zod';
import { toldPayment } from '../../../store/audit/told-money.ts';
import { writeAudit } from '../../../store/audit/write-audit.ts';
import { creditTopup } from '../../../store/money/payments.ts';
import { inTransaction } from '../../../store/postgres/transaction.ts';
import { notFound, Problem } from '../../answers/problem.ts';
import { gatewayRoute } from '../../calls/route.ts';
import { Message } from '../../schemas/message.ts';
import { PaymentNotice } from '../../schemas/money/topup.ts';

const NOTICE_BYTES = 4096;

export const notePayment = gatewayRoute({
  method: 'POST',
  path: '/payments/{gateway}',
  operationId: 'notePayment',
  tag: 'Money',
  summary: 'For payment gateways: a top-up was paid.',
  description:
    'It may come more than once, and at once: the top-up is credited once, with its own amount. A notice that names another amount is refused (409).',
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
        log.warn({ payment: payment.id, gateway }, 'a gateway names another amount than was ordered');
        return new Problem(409, 'the amount is not that of the top-up: nothing is credited');
      }
      if (paid.kind === 'full') {
        log.error({ payment: payment.id, gateway }, 'a top-up does not fit into its wallet');
        return new Problem(
          409,
          'the balance would exceed the largest amount that a wallet can hold: nothing is credited',
        );
      }
      return { message: 'the top-up is credited' };
    });
  },
});
