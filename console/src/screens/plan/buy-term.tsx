// Buys a term, or switches to it, after the price is confirmed. The wallet pays.

import { useRef, useState } from 'preact/hooks';
import { asApiError } from '../../api/api-error.ts';
import { api, idempotent, type Schemas } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useAction } from '../../api/use-action.ts';
import { Link } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { CheckField } from '../../parts/field.tsx';
import { plan as planWords } from '../../words/plan.ts';
import { useDomain } from '../domain/domain-here.ts';
import { rials } from '../wallet/rials.ts';
import { wayToBuy } from './plan-terms.ts';

const text = planWords;

export interface Offer {
  readonly plan: Schemas['CataloguePlan'];
  readonly term: Schemas['PlanTerm'];
}

interface BuyTermProps {
  readonly offer: Offer;
  readonly subscription: Schemas['Subscription'] | undefined;
  readonly onBought: () => void;
  readonly onClose: () => void;
}

/** Details of a 409: usage above the limits of the plan. */
type Above = readonly { readonly what: string; readonly used: number; readonly allowed: number }[];

export function BuyTerm({ offer: { plan, term }, subscription, onBought, onClose }: BuyTermProps) {
  const { name, domain } = useDomain();
  const [isRenewed, setRenewed] = useState(true);
  // A repeat after a missing response does not pay twice; after an error it is a new attempt.
  const key = useRef(idempotent());
  const way = wayToBuy(subscription, serverNowMs());
  const price = rials(term.price_rials ?? 0);
  const buy = useAction(async () => {
    const params = { path: { domain: name }, ...key.current };
    const body = { plan_term_id: term.id };
    try {
      await (way === 'switch'
        ? api.POST('/domains/{domain}/subscriptions/switch', { params, body })
        : api.POST('/domains/{domain}/subscriptions/purchase', {
            params,
            body: { ...body, auto_renew: isRenewed },
          }));
    } catch (error) {
      if (!asApiError(error).isPassing) key.current = idempotent();
      throw error;
    }
    toast(text.bought(plan.name));
    onBought();
  });
  const above = (buy.error?.problem.above ?? []) as Above;
  return (
    <Confirm
      title={text.buyTitle(plan.name, domain.name_unicode)}
      action={text.pay(price)}
      isBusy={buy.isBusy}
      error={buy.error}
      onConfirm={() => void buy.run()}
      onClose={onClose}
    >
      <p>{text.buyText(price, term.billing_duration_days)}</p>
      {way === 'switch' ? (
        <p>{text.switchText}</p>
      ) : (
        <CheckField
          label={text.startRenewing}
          hint={text.renewHint}
          checked={isRenewed}
          onChange={(event) => {
            key.current = idempotent();
            setRenewed(event.currentTarget.checked);
          }}
        />
      )}
      {above.length > 0 && (
        <ul>
          {above.map(({ what, used, allowed }) => (
            <li key={what}>{text.above(what, used, allowed)}</li>
          ))}
        </ul>
      )}
      {buy.error?.status === 402 && (
        <p>
          <Link class="button main" to={`/wallet?amount=${term.price_rials ?? ''}`}>
            {text.topUp}
          </Link>
        </p>
      )}
    </Confirm>
  );
}
