// The SPF record, merged from the current one and the chosen providers.

import { CheckField } from '../../parts/field.tsx';
import { email as say } from '../../words/email.ts';
import { textsAt } from './answers.ts';
import type { StepProps } from './email-screen.tsx';
import { RadioField } from './radio-field.tsx';
import { isSpf, lookupsOf, MOST_LOOKUPS, type SpfAll, spfTerms } from './spf.ts';
import { WarningNotes } from './warning-notes.tsx';

export function SpfStep({ rows, answers, plan, set }: StepProps) {
  const { spfWithout, spfAll } = answers;
  const terms = spfTerms(textsAt(rows, '@').filter(isSpf));
  return (
    <>
      <h3>{say.spfTitle}</h3>
      <p>{say.spfText}</p>
      {terms.length > 0 && (
        <fieldset class="mail-choices">
          <legend class="label">{say.spfTerms}</legend>
          <p class="quiet">{say.spfTermsHint}</p>
          {terms.map((term) => (
            <CheckField
              key={term}
              label={term}
              checked={!spfWithout.includes(term)}
              onChange={({ currentTarget: { checked } }) =>
                set({
                  spfWithout: checked ? spfWithout.filter((each) => each !== term) : [...spfWithout, term],
                })
              }
            />
          ))}
        </fieldset>
      )}
      <RadioField
        legend={say.spfAll}
        value={spfAll}
        choices={(['~all', '-all'] as const).map((value) => ({ value, label: say.spfAlls[value] }))}
        onChange={(value) => set({ spfAll: value as SpfAll })}
      />
      <div>
        <p class="label">{say.spfResult}</p>
        {plan.spf === undefined ? (
          <p>{say.spfNone}</p>
        ) : (
          <>
            <p>
              <code dir="ltr">{plan.spf}</code>
            </p>
            <p class="quiet">{say.spfLookups(lookupsOf(plan.spf), MOST_LOOKUPS)}</p>
          </>
        )}
      </div>
      <WarningNotes plan={plan} kinds={['tooManyLookups']} />
    </>
  );
}
