// The clients of the reseller with their domains, states and balances.

import { useState } from 'preact/hooks';
import { dataOf, type Schemas } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { Link, usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Table } from '../../parts/table.tsx';
import { count, Time } from '../../parts/time.tsx';
import { account } from '../../words/account.ts';
import { plan } from '../../words/plan.ts';
import { reseller } from '../../words/reseller.ts';
import { wallet as walletWords } from '../../words/wallet.ts';
import { words } from '../../words/words.ts';
import { ChoiceFilter, oneOf, TextFilter } from '../operator/filters.tsx';
import { rials } from '../wallet/rials.ts';
import { ClientState } from './client-state.tsx';
import { NewClient } from './new-client.tsx';
import { resell } from './reseller-session.ts';

type Row = Schemas['Client'] & { readonly balanceRials: number };

/** The balance of each client is a separate request. */
const AT_ONCE = 25;
const STATES = ['active', 'inactive'] as const;
const text = reseller.clients;

export function ClientsPage() {
  const { query, setQuery, go } = usePlace();
  const [isMaking, setMaking] = useState(false);
  const filter = { search: query.search, status: oneOf(query.status, STATES) };
  const wallet = useLoad('reseller wallet', (signal) =>
    dataOf(resell.GET('/reseller/v1/wallet', { signal })),
  );
  const pages = usePages<Row>(`clients ${JSON.stringify(filter)}`, async (cursor, signal) => {
    const page = await pageOf(
      resell.GET('/reseller/v1/clients', {
        params: { query: { ...filter, limit: AT_ONCE, ...(cursor && { cursor }) } },
        signal,
      }),
    );
    const items = await Promise.all(
      page.items.map(async (client) => {
        const params = { path: { clientId: client.id } };
        const { balance_rials: balanceRials } = await dataOf(
          resell.GET('/reseller/v1/clients/{clientId}/wallet', { params, signal }),
        );
        return { ...client, balanceRials };
      }),
    );
    return { ...page, items };
  });
  const isFiltered = filter.search !== undefined || filter.status !== undefined;
  return (
    <div class="stack">
      <Loading of={wallet}>
        {({ balance_rials: balance, overdraft_rials: overdraft }) => (
          <section class="card row spread" aria-labelledby="reseller-wallet">
            <div>
              <h2 id="reseller-wallet">{text.ownWallet}</h2>
              <p class={`reseller-balance ${balance < 0 ? 'problem' : ''}`}>{rials(balance)}</p>
              {overdraft > 0 && <p class="quiet">{walletWords.overdraft(rials(overdraft))}</p>}
            </div>
            <Link to="/wallet" class="button">
              {plan.topUp}
            </Link>
          </section>
        )}
      </Loading>
      <div class="row spread reseller-bar">
        <search class="reseller-filters">
          <TextFilter name="search" type="search" label={text.search} hint={text.searchHint} />
          <ChoiceFilter
            name="status"
            label={text.state}
            first={text.allStates}
            choices={STATES.map((state) => [state, text.states[state]])}
          />
        </search>
        <Button kind="main" onClick={() => setMaking(true)}>
          {text.make}
        </Button>
      </div>
      <Loading of={pages.loaded}>
        {({ items }) =>
          items.length > 0 ? (
            <ClientTable rows={items} />
          ) : isFiltered ? (
            <Empty title={text.noMatch}>
              <Button onClick={() => setQuery({ search: undefined, status: undefined })}>{text.clear}</Button>
            </Empty>
          ) : (
            <Empty title={text.none}>
              <p>{text.noneText}</p>
            </Empty>
          )
        }
      </Loading>
      <More of={pages} />
      {isMaking && (
        <NewClient onClose={() => setMaking(false)} onMade={({ id }) => go(`/reseller/clients/${id}`)} />
      )}
    </div>
  );
}

function ClientTable({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <Table<Row>
      caption={reseller.pages.clients}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'email',
          title: words.signIn.email,
          cell: ({ id, email, name }) => (
            <>
              <Link to={`/reseller/clients/${id}`}>{email}</Link>
              {name !== undefined && <div class="quiet">{name}</div>}
            </>
          ),
          text: ({ email }) => email,
        },
        {
          key: 'state',
          title: text.state,
          cell: (client) => <ClientState client={client} />,
          text: ({ active }) => text.states[active ? 'active' : 'inactive'],
        },
        {
          key: 'domains',
          title: words.frame.domains,
          isNumber: true,
          cell: ({ domains }) => count(domains),
          text: ({ domains }) => domains,
        },
        {
          key: 'balance',
          title: walletWords.balance,
          isNumber: true,
          cell: ({ balanceRials }) => rials(balanceRials),
          text: ({ balanceRials }) => balanceRials,
        },
        {
          key: 'since',
          title: account.since,
          cell: ({ created_at }) => <Time at={created_at} />,
          text: ({ created_at }) => created_at,
        },
      ]}
    />
  );
}
