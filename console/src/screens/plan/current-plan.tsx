// The subscription of the domain and its renewal.

import { api, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { person } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Badge } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { plan as planWords } from '../../words/plan.ts';
import { useDomain } from '../domain/domain-here.ts';
import { rials } from '../wallet/rials.ts';

const TONES = { active: 'good', grace: 'bad', cancelled: 'warn', expired: '' } as const;
const text = planWords;

interface CurrentPlanProps {
  readonly subscription: Schemas['Subscription'] | undefined;
  readonly onChanged: () => void;
}

export function CurrentPlan({ subscription, onChanged }: CurrentPlanProps) {
  const { name } = useDomain();
  const renew = useAction(async (isOn: boolean) => {
    const params = { path: { domain: name } };
    await api.POST('/domains/{domain}/subscriptions/auto-renew', { params, body: { auto_renew: isOn } });
    toast(isOn ? text.renewOn : text.renewOff);
    onChanged();
  });
  if (subscription === undefined) {
    return (
      <section class="card">
        <h2>{text.none}</h2>
        <p>{text.noneText}</p>
      </section>
    );
  }
  const { plan, plan_term: term, status, expires_at, grace_until, auto_renew: isRenewed } = subscription;
  return (
    <section class="card stack">
      <div class="row">
        <h2>{plan.name}</h2>
        <Badge tone={TONES[status]}>{text.statuses[status]}</Badge>
        {subscription.is_trial && <Badge>{text.trial}</Badge>}
      </div>
      {status === 'grace' && (
        <Note tone="bad">
          {text.grace} <Time at={grace_until} />
        </Note>
      )}
      <dl class="facts">
        <dt>{text.since}</dt>
        <dd>
          <Time at={subscription.started_at} />
        </dd>
        <dt>{text.until}</dt>
        <dd>{expires_at === undefined ? text.endless : <Time at={expires_at} />}</dd>
        {term?.price_rials !== undefined && (
          <>
            <dt>{text.price}</dt>
            <dd>{text.per(rials(term.price_rials), term.billing_duration_days)}</dd>
          </>
        )}
        {term !== undefined && (
          <>
            <dt>{text.renewal}</dt>
            <dd>{isRenewed ? text.renewedBefore : text.notRenewed}</dd>
          </>
        )}
      </dl>
      <Failure error={renew.error} />
      {term !== undefined && person().provider === undefined && (
        <Button isBusy={renew.isBusy} onClick={() => void renew.run(!isRenewed)}>
          {isRenewed ? text.stopRenewing : text.startRenewing}
        </Button>
      )}
    </section>
  );
}
