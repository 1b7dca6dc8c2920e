// Adds the records of a template to the draft.

import '../records/records.css';
import '../email/email.css';
import { useState } from 'preact/hooks';
import { useDraft } from '../../app/drafts.ts';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { imports, records } from '../../words/records.ts';
import { templates as say } from '../../words/templates.ts';
import { useDomain } from '../domain/domain-here.ts';
import { RadioField } from '../email/radio-field.tsx';
import { DiffList } from '../records/diff-list.tsx';
import type { Values } from '../records/recipe.ts';
import { applyDifferences } from '../records/record-plan.ts';
import { NO_FILTER, rowsOf } from '../records/rows.ts';
import { type Editor, useEditor } from '../records/use-editor.ts';
import { TEMPLATE_IDS, type TemplateId, templateDifferences, templateFields } from './zone-templates.ts';

export default function TemplatesScreen() {
  const { name } = useDomain();
  const editor = useEditor();
  if (!editor.canEdit) return <Note>{records.readOnly}</Note>;
  return (
    <div class="rec">
      <p>
        <Link to={domainPath(name, 'records')}>{imports.back}</Link>
      </p>
      <h2>{say.title}</h2>
      <p>
        {say.text} {say.email} <Link to={domainPath(name, 'records/email')}>{say.emailLink}</Link>
      </p>
      <Loading of={editor.loaded}>{() => <Template editor={editor} />}</Loading>
    </div>
  );
}

function Template({ editor }: { readonly editor: Editor }) {
  const { name, domain } = useDomain();
  const { query, setQuery, go } = usePlace();
  const [values, setValues, dropValues] = useDraft<Values>(`template ${domain.id}`, {});
  const [isTried, setTried] = useState(false);
  const id: TemplateId = TEMPLATE_IDS.find((each) => each === query.template) ?? 'website';
  const fields = templateFields(id, values, domain.name);
  const isComplete = fields.every(({ problem }) => problem === undefined);
  const rows = rowsOf(editor.sorted, editor.draft, NO_FILTER);
  const differences = isComplete ? templateDifferences(rows, id, values, domain.name) : [];
  return (
    <form
      class="stack mail-step"
      aria-label={say.title}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!isComplete) return;
        editor.change((before) => applyDifferences(before, differences, editor.byId));
        dropValues();
        toast(say.added(differences.length));
        go(domainPath(name, 'records'));
      }}
    >
      <RadioField
        legend={say.choose}
        isGrid
        value={id}
        choices={TEMPLATE_IDS.map((value) => ({
          value,
          label: say.names[value],
          hint: say.hints[value],
        }))}
        onChange={(value) => {
          setTried(false);
          setQuery({ template: value });
        }}
      />
      {fields.map(({ key, value, problem }) => (
        <TextField
          key={key}
          label={say.fields[key as keyof typeof say.fields]}
          hint={say.fieldHints[key as keyof typeof say.fieldHints]}
          dir="ltr"
          autocomplete="off"
          spellcheck={false}
          value={value}
          problem={isTried && problem !== undefined ? say.problems[problem] : undefined}
          onInput={(event) => setValues({ ...values, [key]: event.currentTarget.value })}
        />
      ))}
      {isComplete && differences.length === 0 && <Note tone="good">{say.nothing}</Note>}
      {differences.length > 0 && (
        <div>
          <h3>{say.changes}</h3>
          <DiffList differences={differences} label={say.changes} />
        </div>
      )}
      {editor.isUnanswered && <Note tone="warn">{records.unanswered}</Note>}
      <div class="row">
        <Button
          type="submit"
          kind="main"
          disabled={editor.isUnanswered || (isComplete && differences.length === 0)}
        >
          {say.add(differences.length)}
        </Button>
      </div>
    </form>
  );
}
