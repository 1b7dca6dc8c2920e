// The wallet of a client, and transfers between it and the reseller's wallet.

import { useState } from 'preact/hooks';
import { dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import type { Loaded } from '../../api/use-load.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { reseller } from '../../words/reseller.ts';
import { wallet as walletWords } from '../../words/wallet.ts';
import { words } from '../../words/words.ts';
import { amountIn, rials } from '../wallet/rials.ts';
import { resell } from './reseller-session.ts';

const DIRECTIONS = ['credit', 'debit'] as const;
type Direction = (typeof DIRECTIONS)[number];
const NOTHING = { amount: '', description: '' };
const text = reseller.transfer;

interface ClientWalletProps {
  readonly clientId: number;
  readonly wallet: Loaded<Schemas['ClientWallet']>;
  /** Wallet of the reseller. */
  readonly own: Loaded<Schemas['ResellerWallet']>;
}

export function ClientWallet({ clientId, wallet, own }: ClientWalletProps) {
  const [direction, setDirection] = useState<Direction>('credit');
  const [typed, setTyped] = useState(NOTHING);
  const amount = amountIn(typed.amount);
  const isWrong = typed.amount !== '' && (amount === undefined || amount === 0);
  const move = useAction(async () => {
    if (amount === undefined || amount === 0) return;
    const description = typed.description.trim();
    const order = {
      params: { path: { clientId }, ...idempotent() },
      body: { amount_rials: amount, description: description === '' ? text.byDefault : description },
    };
    const moved = await dataOf(
      direction === 'credit'
        ? resell.POST('/reseller/v1/clients/{clientId}/credit', order)
        : resell.POST('/reseller/v1/clients/{clientId}/debit', order),
    );
    setTyped(NOTHING);
    wallet.set({ balance_rials: moved.client_balance_rials });
    if (own.data !== undefined) own.set({ ...own.data, balance_rials: moved.reseller_balance_rials });
    toast(text.done[direction](rials(moved.amount_rials)));
  });
  return (
    <section class="card stack" aria-labelledby="client-wallet">
      <h2 id="client-wallet">{words.frame.wallet}</h2>
      <Loading of={wallet}>
        {({ balance_rials: balance }) => <p class="reseller-balance">{rials(balance)}</p>}
      </Loading>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isWrong) void move.run();
        }}
      >
        <SelectField
          label={text.direction}
          hint={own.data === undefined ? text.own : text.ownBalance(rials(own.data.balance_rials))}
          value={direction}
          choices={DIRECTIONS.map((value) => ({ value, label: text.directions[value] }))}
          onChange={(event) => {
            move.clear();
            setDirection(event.currentTarget.value as Direction);
          }}
        />
        <TextField
          label={walletWords.topup.amount}
          hint={amount === undefined || isWrong ? undefined : rials(amount)}
          inputMode="numeric"
          autocomplete="off"
          required
          value={typed.amount}
          problem={move.error?.of('amount_rials') ?? (isWrong ? text.wrongAmount : undefined)}
          onInput={(event) => {
            move.clear();
            setTyped({ ...typed, amount: event.currentTarget.value });
          }}
        />
        <TextField
          label={text.description}
          hint={text.descriptionHint}
          autocomplete="off"
          maxLength={200}
          value={typed.description}
          problem={move.error?.of('description')}
          onInput={(event) => setTyped({ ...typed, description: event.currentTarget.value })}
        />
        <Failure error={move.error} shownFields={['amount_rials', 'description']} />
        <Button type="submit" kind="main" isBusy={move.isBusy}>
          {text.button}
        </Button>
      </form>
      <p class="quiet">{text.notNeeded}</p>
    </section>
  );
}
