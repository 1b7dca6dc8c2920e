// The ordered top-ups. Open ones can still be paid.

import { api, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { Link } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Failure } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Badge } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { domains } from '../../words/domains.ts';
import { wallet } from '../../words/wallet.ts';
import { words } from '../../words/words.ts';
import { rials } from './rials.ts';

type Topup = Schemas['Topup'];
const AT_ONCE = 50;
const TONES = { open: 'warn', paid: 'good', cancelled: '', expired: '' } as const;
const text = wallet.topups;

export function TopupList() {
  const pages = usePages('wallet topups', (cursor, signal) =>
    pageOf(
      api.GET('/wallet/topups', { params: { query: { limit: AT_ONCE, ...(cursor && { cursor }) } }, signal }),
    ),
  );
  const cancel = useAction(async (id: number) => {
    await api.DELETE('/wallet/topups/{id}', { params: { path: { id } } });
    toast(text.cancelled);
    await pages.loaded.reload();
  });
  return (
    <Loading of={pages.loaded}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title={text.none}>
            <Link class="button main" to="/wallet">
              {wallet.topup.title}
            </Link>
          </Empty>
        ) : (
          <>
            <Failure error={cancel.error} />
            <Table<Topup>
              caption={wallet.pages.topups}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'reference',
                  title: text.reference,
                  cell: ({ reference }) => <code>{reference}</code>,
                  text: ({ reference }) => reference,
                },
                {
                  key: 'amount',
                  title: wallet.moves.amount,
                  isNumber: true,
                  cell: ({ amount_rials }) => rials(amount_rials),
                  text: ({ amount_rials }) => amount_rials,
                },
                {
                  key: 'state',
                  title: domains.columns.status,
                  cell: ({ state, paid_at, expires_at }) => (
                    <>
                      <Badge tone={TONES[state]}>{text.states[state]}</Badge>{' '}
                      {state === 'paid' && <Time at={paid_at} />}
                      {state === 'open' && (
                        <span class="quiet">
                          {words.sharing.ends} <Time at={expires_at} />
                        </span>
                      )}
                    </>
                  ),
                  text: ({ state }) => state,
                },
                {
                  key: 'at',
                  title: text.ordered,
                  cell: ({ created_at }) => <Time at={created_at} />,
                  text: ({ created_at }) => created_at,
                },
                {
                  key: 'act',
                  title: '',
                  cell: ({ id, state, reference, gateway }) =>
                    state === 'open' ? (
                      <span class="row">
                        {gateway === 'manual' && (
                          <a class="button" href={`/wallet/topups/${encodeURIComponent(reference)}/page`}>
                            {text.how}
                          </a>
                        )}
                        <Button
                          aria-label={`${text.cancel} ${reference}`}
                          disabled={cancel.isBusy}
                          onClick={() => void cancel.run(id)}
                        >
                          {text.cancel}
                        </Button>
                      </span>
                    ) : null,
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
