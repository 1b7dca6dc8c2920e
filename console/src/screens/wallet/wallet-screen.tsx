// The wallet: balance, top-ups, transactions and invoices.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { Link, usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { wallet as walletWords } from '../../words/wallet.ts';
import { words } from '../../words/words.ts';
import { InvoiceList } from './invoice-list.tsx';
import { rials } from './rials.ts';
import { TopupForm } from './topup-form.tsx';
import { TopupList } from './topup-list.tsx';
import { TransactionList } from './transaction-list.tsx';
import './wallet.css';

const PAGES = ['', 'topups', 'invoices'] as const;

export default function WalletScreen() {
  const { path } = usePlace();
  const page = PAGES.find((each) => path === (each === '' ? '/wallet' : `/wallet/${each}`)) ?? '';
  const wallet = useLoad('wallet', (signal) => dataOf(api.GET('/wallet', { signal })));
  if (person().provider !== undefined) return <Note>{walletWords.managed}</Note>;
  return (
    <div class="wallet">
      <div class="head">
        <h1>{words.frame.wallet}</h1>
      </div>
      <nav class="tabs" aria-label={words.frame.wallet}>
        {PAGES.map((each) => (
          <Link
            key={each}
            to={each === '' ? '/wallet' : `/wallet/${each}`}
            aria-current={each === page ? 'page' : undefined}
          >
            {walletWords.pages[each === '' ? 'moves' : each]}
          </Link>
        ))}
      </nav>
      {page === '' && (
        <div class="stack">
          <Loading of={wallet}>
            {({ balance_rials: balance, overdraft_rials: overdraft }) => (
              <div class="cards">
                <div class="card">
                  <h2>{walletWords.balance}</h2>
                  <p class={`wallet-balance ${balance < 0 ? 'problem' : ''}`}>{rials(balance)}</p>
                  {balance < 0 && <p>{walletWords.below}</p>}
                  {overdraft > 0 && <p class="quiet">{walletWords.overdraft(rials(overdraft))}</p>}
                </div>
                <TopupForm />
              </div>
            )}
          </Loading>
          <TransactionList />
        </div>
      )}
      {page === 'topups' && <TopupList />}
      {page === 'invoices' && <InvoiceList />}
    </div>
  );
}
