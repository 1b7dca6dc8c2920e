// The values that only the account at the provider shows: DKIM keys and verification texts.

import { TextField } from '../../parts/field.tsx';
import { email as say } from '../../words/email.ts';
import { useDomain } from '../domain/domain-here.ts';
import { chosenProviders, type ProviderField, providerFields } from './answers.ts';
import type { StepProps } from './email-screen.tsx';

export function ValuesStep({ answers, set, isTried }: StepProps) {
  const { domain } = useDomain();
  const providers = chosenProviders(answers);
  const fields = providerFields(answers, domain.name);
  if (providers.length === 0) return <p>{say.noProviders}</p>;
  return (
    <>
      <h3>{say.valuesTitle}</h3>
      {fields.length > 0 && <p>{say.valuesText}</p>}
      {providers.map((provider) => {
        const own = fields.filter((field) => field.provider === provider);
        if (own.length === 0) return <p key={provider.id}>{say.noValues(provider.name)}</p>;
        return (
          <fieldset key={provider.id} class="card stack mail-values">
            <legend>{provider.name}</legend>
            {own.map((field) => (
              <TextField
                key={field.key}
                label={say.fields[field.key as keyof typeof say.fields]}
                hint={hintOf(field)}
                dir="ltr"
                autocomplete="off"
                spellcheck={false}
                value={field.value}
                problem={
                  field.problem !== undefined && (isTried || field.problem === 'wrong')
                    ? say.problems[field.problem]
                    : undefined
                }
                onInput={(event) =>
                  set({ values: { ...answers.values, [field.valueKey]: event.currentTarget.value } })
                }
              />
            ))}
          </fieldset>
        );
      })}
    </>
  );
}

function hintOf({ key, name, type }: ProviderField): string {
  const hints: Readonly<Record<string, string>> = say.fieldHints;
  return hints[key] ?? say.recordHint(type, name.replace(/\{\w+\}/, '…'));
}
