// The records that the setup adds, changes and removes.

import { Note } from '../../parts/failure.tsx';
import { email as say } from '../../words/email.ts';
import { useDomain } from '../domain/domain-here.ts';
import { DiffList } from '../records/diff-list.tsx';
import { providerFields } from './answers.ts';
import type { StepProps } from './email-screen.tsx';
import { PolicyFile } from './transport-step.tsx';
import { WarningNotes } from './warning-notes.tsx';

export function ReviewStep({ answers, plan }: StepProps) {
  const { domain } = useDomain();
  const { differences, policyFile } = plan;
  const empty = providerFields(answers, domain.name).filter(({ value }) => value.trim() === '').length;
  return (
    <>
      <h3>{say.reviewTitle}</h3>
      {differences.length === 0 ? (
        <Note tone="good">{say.nothing}</Note>
      ) : (
        <>
          <p>{say.reviewText}</p>
          <DiffList differences={differences} label={say.reviewTitle} />
        </>
      )}
      {empty > 0 && <p class="quiet">{say.missing(empty)}</p>}
      <WarningNotes plan={plan} />
      {policyFile !== undefined && <PolicyFile text={policyFile} />}
    </>
  );
}
