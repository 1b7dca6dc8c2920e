// Lists the plans on sale and what each includes.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { plan as planWords } from '../../words/plan.ts';
import { rials } from '../wallet/rials.ts';
import { BuyTerm, type Offer } from './buy-term.tsx';
import { includedIn } from './included-in.ts';

const text = planWords;

interface CatalogueProps {
  readonly subscription: Schemas['Subscription'] | undefined;
  readonly onBought: () => void;
}

export function Catalogue({ subscription, onBought }: CatalogueProps) {
  const loaded = useLoad('plans', (signal) => dataOf(api.GET('/billing/plans', { signal })));
  const [wanted, setWanted] = useState<Offer>();
  return (
    <section aria-labelledby="plan-catalogue">
      <h2 id="plan-catalogue">{text.catalogue}</h2>
      <Loading of={loaded}>
        {(plans) => (
          <div class="cards">
            {plans.map((plan) => (
              <div class="card stack" key={plan.id}>
                <div class="row">
                  <h3>{plan.name}</h3>
                  {plan.id === subscription?.plan_id && <Badge tone="good">{text.yours}</Badge>}
                </div>
                <ul class="plan-included">
                  {includedIn(plan).map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
                {plan.terms.length === 0 && <p class="quiet">{text.notSold}</p>}
                {plan.terms.map((term) => (
                  <p key={term.id}>
                    <Button onClick={() => setWanted({ plan, term })}>
                      {term.price_rials === 0
                        ? text.free(term.billing_duration_days)
                        : text.per(rials(term.price_rials ?? 0), term.billing_duration_days)}
                    </Button>
                  </p>
                ))}
              </div>
            ))}
          </div>
        )}
      </Loading>
      {wanted !== undefined && (
        <BuyTerm
          offer={wanted}
          subscription={subscription}
          onBought={() => {
            setWanted(undefined);
            onBought();
          }}
          onClose={() => setWanted(undefined)}
        />
      )}
    </section>
  );
}
