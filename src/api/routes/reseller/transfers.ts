// Money between a reseller's wallet and a client's. Each call happens once, for ever: it wants an Idempotency-Key.

import { transfer } from '../../../store/resellers/transfer.ts';
import { Problem } from '../../answers/problem.ts';
import { notOwned } from '../../calls/find-domain.ts';
import { resellerRoute } from '../../calls/route.ts';
import { TransferOrder, TransferResult } from '../../schemas/reseller/client.ts';
import { oneClient } from './clients.ts';

const ONCE =
  'The `Idempotency-Key` is yours for ever: a repeat gets the first answer, another path or body a 422. What is refused leaves nothing, so the same key may be tried again.';

const moving = (direction: 'credit' | 'debit', summary: string, description: string) =>
  resellerRoute({
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
            direction === 'credit' ? 'your wallet holds too little' : "the client's wallet holds too little",
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
    'Move money from your wallet to a client’s.',
    'Only what your wallet holds: overdraft is for purchases. It is never needed before a purchase, which funds what is missing itself.',
  ),
  moving(
    'debit',
    'Move money from a client’s wallet to yours.',
    'Not below zero. It does not ask where the money came from, and cancels no subscription.',
  ),
];
