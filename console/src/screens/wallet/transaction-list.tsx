// The transactions of the wallet, newest first, with the balance after each.

import { api, type Schemas } from '../../api/client.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { Empty } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { wallet } from '../../words/wallet.ts';
import { rials } from './rials.ts';

type Move = Schemas['WalletTransaction'];
const AT_ONCE = 50;
const text = wallet.moves;

export function TransactionList() {
  const pages = usePages('wallet transactions', (cursor, signal) =>
    pageOf(
      api.GET('/wallet/transactions', {
        params: { query: { limit: AT_ONCE, ...(cursor && { cursor }) } },
        signal,
      }),
    ),
  );
  return (
    <Loading of={pages.loaded}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title={text.none}>
            <p>{text.noneText}</p>
          </Empty>
        ) : (
          <>
            <Table<Move>
              caption={wallet.pages.moves}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'at',
                  title: text.at,
                  cell: ({ created_at }) => <Time at={created_at} />,
                  text: ({ created_at }) => created_at,
                },
                {
                  key: 'what',
                  title: text.what,
                  cell: ({ description, ref_type }) => (
                    <>
                      {description}
                      <div class="quiet">{text.types[ref_type]}</div>
                    </>
                  ),
                  text: ({ description }) => description,
                },
                {
                  key: 'amount',
                  title: text.amount,
                  isNumber: true,
                  cell: ({ amount_rials: amount }) => (
                    <span class={amount < 0 ? '' : 'wallet-in'}>
                      {amount > 0 && '+'}
                      {rials(amount)}
                    </span>
                  ),
                  text: ({ amount_rials }) => amount_rials,
                },
                {
                  key: 'balance',
                  title: text.after,
                  isNumber: true,
                  cell: ({ balance_rials }) => rials(balance_rials),
                  text: ({ balance_rials }) => balance_rials,
                },
              ]}
            />
            <More of={pages} />
          </>
        )
      }
    </Loading>
  );
}
