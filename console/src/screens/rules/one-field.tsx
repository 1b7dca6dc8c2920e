// One field of a rule, rendered by its kind.

import { CheckField, SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { rules as text } from '../../words/rules.ts';
import { OriginsField } from './origins-field.tsx';
import { PageField } from './page-field.tsx';
import type { FormField, RuleType } from './rule-fields.ts';

interface OneFieldProps {
  readonly type: RuleType;
  readonly field: FormField;
  readonly value: string;
  readonly problemOf: (field: string) => string | undefined;
  readonly onText: (text: string) => void;
}

export function OneField({ type, field, value, problemOf, onText }: OneFieldProps) {
  const { name } = field;
  const [label, hint] = wordsOf(text.fields, type, name) ?? [name, undefined];
  const problem = problemOf(name);
  const typed = {
    label,
    hint,
    problem,
    value,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onText(event.currentTarget.value),
  };
  switch (field.kind) {
    case 'check':
    case 'object':
      return (
        <CheckField
          label={label}
          hint={hint}
          checked={value === 'true'}
          onChange={(event) => onText(String(event.currentTarget.checked))}
        />
      );
    case 'choice':
      return (
        <SelectField
          label={label}
          hint={hint}
          problem={problem}
          value={value}
          choices={field.choices.map((choice) => ({
            value: choice,
            label: wordsOf(text.choices, name, choice) ?? choice,
          }))}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
    // A multi-line input, because a single-line input joins pasted lines.
    case 'lines':
    case 'words':
    case 'numbers':
      return <TextArea {...typed} class="rules-lines" />;
    case 'page':
      return <PageField {...typed} />;
    case 'origins':
      return <OriginsField value={value} problemOf={problemOf} onText={onText} />;
    case 'number':
    case 'optional':
      return <TextField {...typed} inputMode="numeric" />;
    default:
      return <TextField {...typed} />;
  }
}

/** Some types have their own label for a field name. */
function wordsOf<T>(all: Readonly<Record<string, T>>, place: string, name: string): T | undefined {
  const special = `${place} ${name}`;
  if (Object.hasOwn(all, special)) return all[special];
  return Object.hasOwn(all, name) ? all[name] : undefined;
}
