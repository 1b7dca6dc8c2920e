// Select field for a plan, by slug. An empty value means no plan.

import { admin, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { Failure } from '../../parts/failure.tsx';
import { SelectField } from '../../parts/field.tsx';
import { operator } from '../../words/operator.ts';

interface PlanFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly problem?: string | undefined;
  readonly onChoose: (slug: string) => void;
}

export function PlanField({ label, hint, value, problem, onChoose }: PlanFieldProps) {
  const plans = useLoad('plans', (signal) => dataOf(admin.GET('/admin/plans', { signal })));
  const known = plans.data ?? [];
  // A plan that is not loaded yet is shown by its slug, so that it is not lost.
  const others =
    value === '' || known.some(({ slug }) => slug === value) ? [] : [{ slug: value, name: value }];
  return (
    <>
      <Failure error={plans.error} onRetry={() => void plans.reload()} />
      <SelectField
        label={label}
        {...(hint !== undefined && { hint })}
        problem={problem}
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
        choices={[
          { value: '', label: operator.domains.noPlan },
          ...[...known, ...others].map(({ slug, name }) => ({ value: slug, label: name })),
        ]}
      />
    </>
  );
}
