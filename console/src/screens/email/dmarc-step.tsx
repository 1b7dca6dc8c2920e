// The DMARC policy and the address for its reports.

import { TextField } from '../../parts/field.tsx';
import { email as say } from '../../words/email.ts';
import { addressProblem, textsAt } from './answers.ts';
import { isDmarc } from './dmarc.ts';
import type { StepProps } from './email-screen.tsx';
import { RadioField } from './radio-field.tsx';
import { WarningNotes } from './warning-notes.tsx';

const POLICIES = ['none', 'quarantine', 'reject'] as const;

export function DmarcStep({ rows, answers, plan, set, isTried }: StepProps) {
  const { dmarc, dmarcAddress } = answers;
  const now = textsAt(rows, '_dmarc').find(isDmarc);
  const problem = addressProblem(dmarcAddress);
  return (
    <>
      <h3>{say.dmarcTitle}</h3>
      <p>{say.dmarcText}</p>
      <RadioField
        legend={say.dmarcPolicy}
        value={dmarc}
        choices={[
          ...(now === undefined
            ? []
            : [{ value: 'keep', label: say.dmarcPolicies.keep, hint: say.dmarcNow(now) }]),
          ...POLICIES.map((value) => ({ value, label: say.dmarcPolicies[value] })),
        ]}
        onChange={(value) => set({ dmarc: value as typeof dmarc })}
      />
      {dmarc !== 'keep' && (
        <TextField
          label={say.dmarcAddress}
          hint={say.dmarcAddressHint}
          type="email"
          dir="ltr"
          autocomplete="email"
          value={dmarcAddress}
          problem={isTried && problem !== undefined ? say.problems[problem] : undefined}
          onInput={(event) => set({ dmarcAddress: event.currentTarget.value })}
        />
      )}
      <WarningNotes plan={plan} kinds={['rejectWithoutDkim', 'reportConsent']} />
    </>
  );
}
