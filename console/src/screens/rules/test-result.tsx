// The result of a test: what happens to the request, and what each rule contributes.

import { useMemo } from 'preact/hooks';
import { domainPath, Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/failure.tsx';
import { Badge } from '../../parts/status.tsx';
import { rules as words } from '../../words/rules.ts';
import { useDomain } from '../domain/domain-here.ts';
import type { Rule } from './match-rule.ts';
import { summaryOf } from './say-rule.ts';
import { type Result, type Step, testUrl } from './test-url.ts';
import type { Asked } from './tester.tsx';

const text = words.test;
const TONES = { acts: 'good', unsure: 'warn', log: '', miss: '' } as const;
/** Fewer rules that do not apply are shown without a click. */
const FEW = 5;
const NO_REGEX = () => undefined;

interface TestResultProps {
  readonly asked: Asked;
  readonly rules: readonly Rule[];
  readonly onClose: () => void;
}

export function TestResult({
  asked: { url, visit, found, find = NO_REGEX },
  rules,
  onClose,
}: TestResultProps) {
  const { name, domain } = useDomain();
  const result = useMemo(() => {
    if (visit.recordIds.length === 0) return undefined;
    const tested = {
      ...{ rules, url, visit, isSuspended: domain.suspended },
      isDeveloping: Date.parse(domain.developer_mode_until ?? '') > Date.now(),
    };
    return testUrl(tested, find);
  }, [url, visit, find, rules, domain]);
  const record = found?.name === '@' ? domain.name : `${found?.name}.${domain.name}`;
  const hasCaptcha = found?.records.some(({ proxied, captcha }) => proxied && captcha) === true;
  return (
    <div class="stack rules-result">
      <div class="row spread">
        <h3>{text.result(url.url)}</h3>
        <Button kind="bare" aria-label={text.close} onClick={onClose}>
          ✕
        </Button>
      </div>
      <div role="status">
        {result === undefined ? (
          <Note tone="warn">
            {found === undefined ? text.ends.none(url.host) : text.ends.direct(url.host)}{' '}
            <Link to={domainPath(name, 'records')}>{text.toRecords}</Link>
          </Note>
        ) : (
          <Note tone={toneOf(result)}>
            <p>
              <strong>{endText(result, record)}</strong>
            </p>
            {result.unless.length > 0 && <p>{text.unless(result.unless)}</p>}
            {hasCaptcha && !result.isExempt && ['record', 'rule'].includes(result.end.kind) && (
              <p>{text.recordCaptcha(record)}</p>
            )}
          </Note>
        )}
      </div>
      {result !== undefined && <Steps steps={result.steps} />}
    </div>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const misses = steps.filter(({ outcome }) => outcome.kind === 'miss');
  const others = steps.filter(({ outcome }) => outcome.kind !== 'miss');
  return (
    <>
      {others.length > 0 && (
        <ol class="plain rules-steps" aria-label={text.steps}>
          {others.map((step) => (
            <StepRow key={step.rule.id} step={step} />
          ))}
        </ol>
      )}
      {misses.length > 0 && (
        <details open={misses.length <= FEW}>
          <summary>{text.misses(misses.length)}</summary>
          <ol class="plain rules-steps">
            {misses.map((step) => (
              <StepRow key={step.rule.id} step={step} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

function StepRow({ step: { rule, outcome } }: { readonly step: Step }) {
  return (
    <li>
      <span class="rules-step-type">
        {words.types[rule.type]} <span class="quiet">{words.rule(rule.id)}</span>
      </span>
      <span>
        {outcome.kind === 'acts' ? detailText(rule, outcome.detail) : summaryOf(rule)}
        <span class="quiet rules-note">{noteOf(outcome)}</span>
        {outcome.kind !== 'miss' &&
          rule.unsupported?.map(({ why, edges }) => (
            <span key={why} class="problem rules-note">
              {words.unsupported(edges, why)}
            </span>
          ))}
      </span>
      <Badge tone={TONES[outcome.kind]}>{text.outcomes[outcome.kind]}</Badge>
    </li>
  );
}

type Outcome = Step['outcome'];
type Detail = Extract<Outcome, { kind: 'acts' }>['detail'];

function detailText(rule: Rule, detail: Detail): string {
  switch (detail.kind) {
    case 'located':
      return text.located(detail.status, detail.location);
    case 'rewritten':
      return text.rewritten(detail.path);
    case 'pages':
      return text.pages(detail.codes);
    default:
      return summaryOf(rule);
  }
}

function noteOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'miss':
      return text.why[outcome.why];
    case 'unsure':
      return text.unsure[outcome.why];
    case 'log':
      return text.log;
    default: {
      const note = outcome.detail.kind === 'summary' ? outcome.detail.note : undefined;
      return note === undefined ? '' : text[note];
    }
  }
}

function toneOf({ end }: Result): 'good' | 'bad' | undefined {
  if (end.kind === 'record' || end.kind === 'rule') return 'good';
  return end.kind === 'redirected' ? undefined : 'bad';
}

function endText({ end }: Result, record: string): string {
  const { ends } = text;
  switch (end.kind) {
    case 'blocked':
      return ends.blocked(end.id);
    case 'redirected':
      return ends.redirected(end.status, end.location);
    case 'record':
      return ends.record(end.path, record);
    case 'rule':
      return ends.rule(end.path, end.id);
    default:
      return ends[end.kind];
  }
}
