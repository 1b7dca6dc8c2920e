// Sets the plan of a domain as an operator.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { operator } from '../../../words/operator.ts';
import { PlanField } from '../plan-field.tsx';

type Domain = components['schemas']['AdminDomain'];

interface DomainPlanProps {
  readonly domain: Domain;
  readonly onChanged: (domain: Domain) => void;
}

export function DomainPlan({ domain, onChanged }: DomainPlanProps) {
  const say = operator.domains;
  const has = domain.subscription?.plan.slug ?? '';
  const [wanted, setWanted] = useState<string>();
  const save = useAction(async (plan: string) => {
    const params = { path: { id: domain.id } };
    const body = { plan: plan === '' ? null : plan };
    onChanged(await dataOf(admin.PUT('/admin/domains/{id}/subscription', { params, body })));
    setWanted(undefined);
    toast(say.planSet);
  });
  return (
    <section class="card">
      <h2>{say.planTitle}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted !== undefined) void save.run(wanted);
        }}
      >
        <PlanField
          label={say.facts.plan}
          hint={say.planText}
          value={wanted ?? has}
          problem={save.error?.of('plan')}
          onChoose={setWanted}
        />
        <Failure error={save.error} shownFields={['plan']} />
        <Button type="submit" isBusy={save.isBusy} disabled={wanted === undefined || wanted === has}>
          {say.setPlan}
        </Button>
      </form>
    </section>
  );
}
