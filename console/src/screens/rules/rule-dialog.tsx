// Makes a rule or changes it: by fields for the common types, by JSON for the others. The API's errors stand at the fields.

import { useState } from 'preact/hooks';
import { api, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import {
  bodyOf,
  type FormField,
  formOf,
  jsonOf,
  parseJson,
  type RuleType,
  type Typed,
  typedOf,
} from './rule-form.ts';

const text = words.rules;

interface RuleDialogProps {
  readonly type: RuleType;
  /** Undefined: a new one. */
  readonly rule: Schemas['Rule'] | undefined;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function RuleDialog({ type, rule, onDone, onClose }: RuleDialogProps) {
  const { name } = useDomain();
  const fields = formOf(type);
  const draftKey = `rule:${name}:${type}:${rule?.id ?? 'new'}`;
  const [typed, setTyped, dropTyped] = useDraft<Typed>(
    draftKey,
    fields === undefined
      ? { json: rule === undefined ? '{\n  \n}' : jsonOf(rule) }
      : typedOf(fields, rule ?? {}),
  );
  const [isNoJson, setNoJson] = useState(false);
  const save = useAction(async (body: Record<string, unknown>) => {
    if (rule === undefined)
      await api.POST('/domains/{domain}/rules/{type}/', {
        params: { path: { domain: name, type }, ...idempotent() },
        body: body as Schemas['RuleCreate'],
      });
    else
      await api.PUT('/domains/{domain}/rules/{type}/{id}', {
        params: { path: { domain: name, type, id: rule.id } },
        body: body as Schemas['RuleUpdate'],
      });
    dropTyped();
    onDone();
  });
  const send = () => {
    const body = fields === undefined ? parseJson(typed.json ?? '') : bodyOf(fields, typed);
    setNoJson(body === undefined);
    if (body !== undefined) void save.run(body);
  };
  const problemOf = (field: string) =>
    save.error?.problem.fields?.find(
      (each) =>
        each.field === field || each.field.startsWith(`${field}.`) || each.field.startsWith(`${field}[`),
    )?.error;
  const shown = (save.error?.problem.fields ?? [])
    .map(({ field }) => field)
    .filter((each) => fields?.some(({ name: own }) => problemOf(own) !== undefined && each.startsWith(own)));
  return (
    <Dialog
      title={rule === undefined ? text.newTitle(text.types[type]) : text.editTitle(rule.id)}
      onClose={onClose}
      isWide
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <p>{text.about[type]}</p>
        {fields === undefined ? (
          <TextArea
            label={text.json}
            hint={text.jsonHint}
            problem={isNoJson ? text.noJson : undefined}
            class="rules-json"
            spellcheck={false}
            value={typed.json ?? ''}
            onInput={(event) => setTyped({ json: event.currentTarget.value })}
          />
        ) : (
          fields.map((field) => (
            <OneField
              key={field.name}
              field={field}
              value={typed[field.name] ?? field.initial}
              problem={problemOf(field.name)}
              onText={(value) => setTyped({ ...typed, [field.name]: value })}
            />
          ))
        )}
        <Failure error={save.error} shownFields={shown} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={save.isBusy}>
            {words.common.save}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface OneFieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
}

function OneField({ field, value, problem, onText }: OneFieldProps) {
  const known = Object.hasOwn(text.fields, field.name)
    ? text.fields[field.name as keyof typeof text.fields]
    : undefined;
  const [label, hint] = known ?? [field.name, undefined];
  switch (field.kind) {
    case 'check':
      return (
        <CheckField
          label={label}
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
            label: Object.hasOwn(text.choices, choice)
              ? text.choices[choice as keyof typeof text.choices]
              : choice,
          }))}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
    case 'lines':
      return (
        <TextArea
          label={label}
          hint={hint}
          problem={problem}
          class="rules-lines"
          value={value}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      );
    default:
      return (
        <TextField
          label={label}
          hint={hint}
          problem={problem}
          inputMode={field.kind === 'number' ? 'numeric' : undefined}
          value={value}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      );
  }
}
