// The servers of a pool, one row of fields each.

import { Button } from '../../parts/button.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { rules } from '../../words/rules.ts';
import { NEW_ORIGIN, originsOf, type TypedOrigin } from './rule-form.ts';

const text = rules.origins;

interface OriginsFieldProps {
  /** From `originsOf`. */
  readonly value: string;
  readonly problemOf: (field: string) => string | undefined;
  readonly onText: (text: string) => void;
}

export function OriginsField({ value, problemOf, onText }: OriginsFieldProps) {
  const origins = originsOf(value);
  const set = (next: readonly TypedOrigin[]) => onText(JSON.stringify(next));
  return (
    <fieldset class="rules-origins">
      <legend>{text.title}</legend>
      {origins.map((origin, i) => {
        const change = (changes: Partial<TypedOrigin>) =>
          set(origins.map((each, at) => (at === i ? { ...each, ...changes } : each)));
        const problem = (field: keyof TypedOrigin) => problemOf(`origins[${i}].${field}`);
        return (
          <fieldset class="rules-origin" aria-label={text.one(i + 1)} key={i}>
            <TextField
              label={text.host}
              problem={problem('host')}
              value={origin.host}
              onInput={(event) => change({ host: event.currentTarget.value })}
            />
            <SelectField
              label={text.scheme}
              problem={problem('scheme')}
              choices={['https', 'http'].map((scheme) => ({ value: scheme, label: scheme }))}
              value={origin.scheme}
              onChange={(event) => {
                const scheme = event.currentTarget.value;
                const isUsual = origin.port === (scheme === 'http' ? '443' : '80');
                change({ scheme, ...(isUsual && { port: scheme === 'http' ? '80' : '443' }) });
              }}
            />
            <TextField
              label={text.port}
              problem={problem('port')}
              inputMode="numeric"
              value={origin.port}
              onInput={(event) => change({ port: event.currentTarget.value })}
            />
            <TextField
              label={text.weight}
              problem={problem('weight')}
              inputMode="numeric"
              value={origin.weight}
              onInput={(event) => change({ weight: event.currentTarget.value })}
            />
            <CheckField
              label={text.backup}
              hint={problem('backup')}
              checked={origin.backup}
              onChange={(event) => change({ backup: event.currentTarget.checked })}
            />
            <Button
              aria-label={text.removeOf(i + 1)}
              disabled={origins.length === 1}
              onClick={() => set(origins.filter((_, at) => at !== i))}
            >
              {text.remove}
            </Button>
          </fieldset>
        );
      })}
      <Button onClick={() => set([...origins, NEW_ORIGIN])}>{text.add}</Button>
    </fieldset>
  );
}
