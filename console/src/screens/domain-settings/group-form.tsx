// A form for one group of settings, which is saved as a whole. Errors are shown at their fields.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import {
  changesOf,
  type Draft,
  FIELDS,
  type FieldKind,
  type FieldName,
  GROUPS,
  type GroupName,
  shownIn,
} from './settings-form.ts';

const text = domainSettings;
const NONE: Draft = {};

interface GroupFormProps {
  readonly group: GroupName;
  /** Undefined if unknown. */
  readonly plan: Schemas['Entitlements'] | undefined;
  readonly isClosed: boolean;
}

export function GroupForm({ group, plan, isClosed }: GroupFormProps) {
  const { name, domain, setDomain } = useDomain();
  const [draft, setDraft, dropDraft] = useDraft<Draft>(`settings ${name} ${group}`, NONE);
  const fields: readonly FieldName[] = GROUPS[group];
  const { body, wrong } = changesOf(fields, draft, domain);
  const hasDraft = Object.keys(body).length > 0 || Object.keys(wrong).length > 0;
  const save = useAction(async () => {
    const params = { path: { domain: name } };
    setDomain(await dataOf(api.PUT('/domains/{domain}', { params, body: body as Schemas['DomainUpdate'] })));
    dropDraft();
    toast(text.saved);
  });
  const problemOf = (field: FieldName) => {
    const bounds = wrong[field];
    if (bounds === undefined) return save.error?.of(field);
    return bounds === 'number' ? text.notNumber : text.between(bounds.min, bounds.max);
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        if (Object.keys(wrong).length === 0) void save.run();
      }}
    >
      <h2>{text.groups[group].title}</h2>
      <p class="quiet">{text.groups[group].text}</p>
      <fieldset class="domain-settings-fields" disabled={isClosed}>
        {fields.map((field) => (
          <Field
            key={field}
            field={field}
            value={shownIn(field, draft, domain)}
            plan={plan}
            problem={problemOf(field)}
            onChange={(value) => {
              save.clear();
              setDraft({ ...draft, [field]: value });
            }}
          />
        ))}
      </fieldset>
      {plan?.has_active_plan === false && group === 'agents' && mayDo(domain, 'billing') && (
        <p>
          <Link to={domainPath(name, 'plan')}>{text.plan.choose}</Link>
        </p>
      )}
      <Failure error={save.error} shownFields={fields} />
      {hasDraft && (
        <div class="row">
          <Button type="submit" kind="main" isBusy={save.isBusy} disabled={Object.keys(wrong).length > 0}>
            {text.save}
          </Button>
          <Button
            onClick={() => {
              save.clear();
              dropDraft();
            }}
          >
            {text.undo}
          </Button>
        </div>
      )}
    </form>
  );
}

interface FieldProps {
  readonly field: FieldName;
  readonly value: string | boolean;
  readonly plan: Schemas['Entitlements'] | undefined;
  readonly problem: string | undefined;
  readonly onChange: (value: string | boolean) => void;
}

function Field({ field, value, plan, problem, onChange }: FieldProps) {
  const { label, hint } = text.fields[field];
  const kind: FieldKind = FIELDS[field];
  if (kind.kind === 'switch') {
    const isShut = field === 'markdown_for_agents' && plan?.has_active_plan === false && value !== true;
    return (
      <CheckField
        label={label}
        hint={isShut ? `${hint} ${text.plan.none}` : (problem ?? hint)}
        checked={value === true}
        disabled={isShut}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  }
  if (kind.kind === 'size') {
    const most = plan?.max_cache_cap_mb ?? Number.POSITIVE_INFINITY;
    const isBeyond = (mb: number) => mb > most && String(mb) !== value;
    return (
      <SelectField
        label={label}
        hint={Number.isFinite(most) ? `${hint} ${most === 0 ? text.plan.none : text.plan.upTo(most)}` : hint}
        problem={problem}
        value={String(value)}
        choices={kind.sizes.map((mb) => ({
          value: String(mb),
          label: isBeyond(mb) ? text.plan.beyond(mb) : text.mb(mb),
          isShut: isBeyond(mb),
        }))}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextField
      label={label}
      hint={hint}
      problem={problem}
      inputMode="numeric"
      value={String(value)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}
