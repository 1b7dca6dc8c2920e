// Adds money to an account's wallet as an operator.

import { moveMoney } from '../../../src/features/money/sql-wallet.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';

export async function giveMoney(db: Database, accountId: number, amountRials: number): Promise<void> {
  const moved = await inTransaction(db, (trx) =>
    moveMoney(trx, {
      from: { outside: 'operator' },
      to: { accountId },
      amountRials,
      refType: 'adjustment',
      description: 'given',
      at: new Date(),
    }),
  );
  if (moved.kind !== 'moved') throw new Error(moved.kind);
}
