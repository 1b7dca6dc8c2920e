// Creates or edits a rule, with fields or as JSON. The API's errors are shown at their fields.

import { useState } from 'preact/hooks';
import { api, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextArea } from '../../parts/field.tsx';
import { rules as text } from '../../words/rules.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { OneField } from './one-field.tsx';
import { type FormField, fieldsOf, type RuleType } from './rule-fields.ts';
import {
  bodyOf,
  isAsked,
  isWithin,
  jsonOf,
  othersOf,
  parseJson,
  showsError,
  type Typed,
  typedOf,
} from './rule-form.ts';

interface RuleDialogProps {
  readonly type: RuleType;
  /** Undefined for a new rule. */
  readonly rule: Schemas['Rule'] | undefined;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function RuleDialog({ type, rule, onDone, onClose }: RuleDialogProps) {
  const { name } = useDomain();
  const fields = fieldsOf(type);
  const draftKey = `rule:${name}:${type}:${rule?.id ?? 'new'}`;
  /** If `json` is set, the rule is edited as JSON. `others` has members of that JSON without a field. */
  const [typed, setTyped, dropTyped] = useDraft<Typed>(draftKey, typedOf(fields, rule ?? {}));
  const { json, others } = typed;
  const body = () => ({ ...(others !== undefined && parseJson(others)), ...bodyOf(fields, typed) });
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
    const wanted = json === undefined ? body() : parseJson(json);
    setNoJson(wanted === undefined);
    if (wanted !== undefined) void save.run(wanted);
  };
  const problemOf = (field: string) =>
    save.error?.problem.fields?.find((each) => isWithin(each.field, field))?.error;
  const asked = fields.filter((field) => json === undefined && isAsked(field, typed));
  const shown = (save.error?.problem.fields ?? [])
    .map(({ field }) => field)
    .filter((each) => asked.some((field) => showsError(field, each)));
  const draw = (field: FormField) => (
    <OneField
      key={field.name}
      type={type}
      field={field}
      value={typed[field.name] ?? field.initial}
      problemOf={problemOf}
      onText={(value) => setTyped({ ...typed, [field.name]: value })}
    />
  );
  const rare = asked.filter(({ isRare }) => isRare);
  const toFields = () => {
    const written = parseJson(json ?? '');
    setNoJson(written === undefined);
    if (written !== undefined)
      setTyped({ ...typedOf(fields, written), others: JSON.stringify(othersOf(fields, written)) });
  };
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
        {json === undefined ? (
          <>
            {asked.filter(({ isRare }) => !isRare).map(draw)}
            <details open={rare.some(({ name: own }) => problemOf(own) !== undefined)}>
              <summary>{text.more}</summary>
              {rare.map(draw)}
            </details>
          </>
        ) : (
          <TextArea
            label={text.json}
            hint={text.jsonHint}
            problem={isNoJson ? text.noJson : undefined}
            class="rules-json"
            spellcheck={false}
            value={json}
            onInput={(event) => setTyped({ json: event.currentTarget.value })}
          />
        )}
        <Failure error={save.error} shownFields={shown} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={save.isBusy}>
            {words.common.save}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          {json === undefined ? (
            <Button kind="bare" onClick={() => setTyped({ json: jsonOf({ ...rule, ...body() }) })}>
              {text.asJson}
            </Button>
          ) : (
            <Button kind="bare" onClick={toFields}>
              {text.asFields}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
