// The wallet of the account that calls: what it holds, and what moved. A key that is narrowed reads nothing of it.

import { z } from 'zod';
import { floorOf } from '../../../billing/ledger.ts';
import {
  countTransactions,
  listTransactions,
  loadBalance,
  type Transaction as StoredTransaction,
} from '../../../store/money/load-wallet.ts';
import { accountRoute } from '../../calls/route.ts';
import { answerList, logQuery, pagesById } from '../../lists/paging.ts';
import { Transaction, Wallet } from '../../schemas/money/wallet.ts';

const tag = 'Money';
const READ_AT_ONCE = 500;

export const getWallet = accountRoute({
  method: 'GET',
  path: '/wallet',
  operationId: 'getWallet',
  tag,
  summary: 'What your wallet holds.',
  wholeKeys: true,
  response: Wallet,
  async run({ api, caller }) {
    const { id, isReseller } = caller.account;
    return {
      balance_rials: await loadBalance(api.db, id),
      overdraft_rials: Math.abs(floorOf({ isReseller }, api.maxNegativeRials ?? 0)),
    };
  },
});

export const listWalletTransactions = accountRoute({
  method: 'GET',
  path: '/wallet/transactions',
  operationId: 'listWalletTransactions',
  tag,
  summary: 'What moved in your wallet, newest first.',
  description: 'No row is ever changed or deleted: the balance is their sum.',
  wholeKeys: true,
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
