// Orders a top-up, which is paid on the gateway's page.

import { useState } from 'preact/hooks';
import { api, dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { wallet } from '../../words/wallet.ts';
import { amountIn, rials } from './rials.ts';

const LEAST = 10_000;
const text = wallet.topup;

export function TopupForm() {
  const { query } = usePlace();
  const [typed, setTyped] = useState(query.amount ?? '');
  const [ordered, setOrdered] = useState<Schemas['OrderedTopup']>();
  const amount = amountIn(typed);
  const order = useAction(async () => {
    if (amount === undefined) return;
    setOrdered(
      await dataOf(api.POST('/wallet/topup', { params: idempotent(), body: { amount_rials: amount } })),
    );
    setTyped('');
  });
  const isTooLittle = typed !== '' && (amount === undefined || amount < LEAST);
  return (
    <section class="card stack" aria-labelledby="wallet-topup">
      <h2 id="wallet-topup">{text.title}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isTooLittle) void order.run();
        }}
      >
        <TextField
          label={text.amount}
          hint={amount !== undefined && !isTooLittle ? rials(amount) : text.least(rials(LEAST))}
          inputMode="numeric"
          autocomplete="off"
          required
          value={typed}
          problem={order.error?.of('amount_rials') ?? (isTooLittle ? text.least(rials(LEAST)) : undefined)}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Failure error={order.error} shownFields={['amount_rials']} />
        <Button type="submit" kind="main" isBusy={order.isBusy}>
          {text.order}
        </Button>
      </form>
      {ordered !== undefined && (
        <Note tone="good">
          <p role="status">{text.ordered(rials(ordered.amount_rials), ordered.reference)}</p>
          <a class="button main" href={ordered.payment_url}>
            {text.pay}
          </a>
        </Note>
      )}
    </section>
  );
}
