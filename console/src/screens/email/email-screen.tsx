// Sets up the mail of a domain step by step. The result is put into the draft of the records.

import '../records/records.css';
import './email.css';
import type { FunctionComponent } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useDraft } from '../../app/drafts.ts';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Steps } from '../../parts/steps.tsx';
import { email as say } from '../../words/email.ts';
import { imports, records } from '../../words/records.ts';
import { useDomain } from '../domain/domain-here.ts';
import { applyDifferences } from '../records/record-plan.ts';
import { NO_FILTER, type Row, rowsOf } from '../records/rows.ts';
import { type Editor, useEditor } from '../records/use-editor.ts';
import { type Answers, initialAnswers } from './answers.ts';
import { DmarcStep } from './dmarc-step.tsx';
import { type EmailPlan, emailPlan, withRelativeNames } from './email-plan.ts';
import { ProviderStep } from './provider-step.tsx';
import { ReviewStep } from './review-step.tsx';
import { SpfStep } from './spf-step.tsx';
import { isStepDone, type StepName, stepsOf } from './steps.ts';
import { TransportStep } from './transport-step.tsx';
import { ValuesStep } from './values-step.tsx';

export interface StepProps {
  readonly rows: readonly Row[];
  readonly answers: Answers;
  readonly plan: EmailPlan;
  readonly set: (change: Partial<Answers>) => void;
  /** True after an attempt to continue with missing values. */
  readonly isTried: boolean;
}

const STEPS: Readonly<Record<StepName, FunctionComponent<StepProps>>> = {
  provider: ProviderStep,
  values: ValuesStep,
  spf: SpfStep,
  dmarc: DmarcStep,
  transport: TransportStep,
  review: ReviewStep,
};

/** A wrong field, or the first choice of a group without a selection. */
const WRONG = '[aria-invalid=true], fieldset[aria-describedby] input';

export default function EmailScreen() {
  const { name } = useDomain();
  const editor = useEditor();
  if (!editor.canEdit) return <Note>{records.readOnly}</Note>;
  return (
    <div class="rec">
      <p>
        <Link to={domainPath(name, 'records')}>{imports.back}</Link>
      </p>
      <h2>{say.title}</h2>
      <Loading of={editor.loaded}>{() => <Wizard editor={editor} />}</Loading>
    </div>
  );
}

function Wizard({ editor }: { readonly editor: Editor }) {
  const { name, domain } = useDomain();
  const { query, setQuery, go } = usePlace();
  const [changes, setChanges, dropChanges] = useDraft<Partial<Answers>>(`email ${domain.id}`, {});
  const { sorted, draft } = editor;
  const rows = useMemo(
    () => withRelativeNames(rowsOf(sorted, draft, NO_FILTER), domain.name),
    [sorted, draft, domain.name],
  );
  const answers = { ...initialAnswers(rows), ...changes };
  const now = useRef(new Date());
  const plan = emailPlan(rows, answers, domain.name, now.current);
  const steps = stepsOf(answers);
  // A step that the answers do not allow yet is not opened.
  const wanted = Math.max(0, steps.indexOf(query.step as StepName));
  const firstOpen = steps.findIndex((step) => !isStepDone(step, answers, domain.name));
  const at = firstOpen === -1 ? wanted : Math.min(wanted, firstOpen);
  const step = steps[at] ?? 'provider';
  const isTried = query.tried === step;
  const isLast = at === steps.length - 1;
  const count = plan.differences.length;
  const Step = STEPS[step];
  const form = useRef<HTMLFormElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current !== step) {
      form.current?.focus({ preventScroll: true });
      form.current?.scrollIntoView();
    }
    shown.current = step;
  }, [step]);
  const focusWrong = () => form.current?.querySelector<HTMLElement>(WRONG)?.focus();
  useEffect(() => {
    if (isTried) focusWrong();
  }, [isTried]);

  const next = () => {
    if (!isLast) {
      const isDone = isStepDone(step, answers, domain.name);
      if (isTried && !isDone) focusWrong();
      else setQuery(isDone ? { step: steps[at + 1], tried: undefined } : { tried: step });
      return;
    }
    editor.change((before) => applyDifferences(before, plan.differences, editor.byId));
    dropChanges();
    toast(say.added(count));
    go(domainPath(name, 'records'));
  };
  return (
    <>
      <Steps label={say.stepsLabel} titles={steps.map((each) => say.steps[each])} at={at} />
      <form
        ref={form}
        tabIndex={-1}
        class="stack mail-step"
        aria-label={say.steps[step]}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          next();
        }}
      >
        <Step
          rows={rows}
          answers={answers}
          plan={plan}
          isTried={isTried}
          set={(change) => setChanges({ ...changes, ...change })}
        />
        {isLast && editor.isUnanswered && <Note tone="warn">{records.unanswered}</Note>}
        <div class="row">
          {at > 0 && (
            <Button onClick={() => setQuery({ step: steps[at - 1], tried: undefined })}>
              {say.previous}
            </Button>
          )}
          <Button type="submit" kind="main" disabled={isLast && (count === 0 || editor.isUnanswered)}>
            {isLast ? say.add(count) : say.next}
          </Button>
        </div>
      </form>
    </>
  );
}
