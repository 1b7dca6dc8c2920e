// The plan of a domain, its usage, and the plans on sale.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { person } from '../../app/session.ts';
import { Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { plan } from '../../words/plan.ts';
import { wallet } from '../../words/wallet.ts';
import { useDomain } from '../domain/domain-here.ts';
import { InvoiceList } from '../wallet/invoice-list.tsx';
import { Catalogue } from './catalogue.tsx';
import { CurrentPlan } from './current-plan.tsx';
import './plan.css';
import { subscriptionInForce } from './plan-terms.ts';
import { Usage } from './usage.tsx';

export default function PlanPage() {
  const { name } = useDomain();
  const path = { domain: name };
  const isManaged = person().provider !== undefined;
  const features = useLoad(`features ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/features', { params: { path }, signal })),
  );
  const subscriptions = useLoad(`subscriptions ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/subscriptions', { params: { path }, signal })),
  );
  const reload = () => {
    void features.reload();
    void subscriptions.reload();
  };
  return (
    <div class="stack plan">
      <div class="cards">
        <Loading of={subscriptions}>
          {(list) => <CurrentPlan subscription={subscriptionInForce(list)} onChanged={reload} />}
        </Loading>
        <Loading of={features}>{(entitlements) => <Usage of={entitlements} />}</Loading>
      </div>
      {isManaged ? (
        <Note>{plan.managed}</Note>
      ) : (
        <>
          {subscriptions.data !== undefined && (
            <Catalogue subscription={subscriptionInForce(subscriptions.data)} onBought={reload} />
          )}
          <section aria-labelledby="plan-invoices">
            <h2 id="plan-invoices">{wallet.pages.invoices}</h2>
            <InvoiceList domain={name} />
          </section>
        </>
      )}
    </div>
  );
}
