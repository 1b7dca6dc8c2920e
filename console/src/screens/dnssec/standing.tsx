// The DNSSEC state in one sentence, the steps of the current change, and the findings.

import { domainPath, Link } from '../../app/place.tsx';
import { Badge } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { type Dnssec, stepsOf } from './steps.ts';

const text = words.dnssec;

const TONES = {
  off: '',
  signing: 'warn',
  waiting: 'warn',
  ds_wanted: 'warn',
  secure: 'good',
  rolling: 'warn',
  ds_removal: 'warn',
  unsigning: 'warn',
  broken: 'bad',
  verbatim: '',
} as const;
const SIGNS = { done: '✓', now: '●', next: '○' } as const;
const WEIGHTS = { error: 'bad', warning: 'warn', info: '' } as const;

export function Standing({ dnssec }: { readonly dnssec: Dnssec }) {
  const { name } = useDomain();
  const { status, registrar, signatures, keys } = dnssec;
  const next = keys.find((key) => key.next?.waits_for !== undefined)?.next;
  const steps = stepsOf(dnssec);
  return (
    <section class={`card dnssec-standing ${TONES[status]}`}>
      <div class="row">
        <h2>{text.headlines[status]}</h2>
        <Badge tone={TONES[status]}>{text.statuses[status]}</Badge>
      </div>
      <p>{text.leads[status]}</p>
      {steps !== undefined && status !== 'secure' && (
        <ol class="plain dnssec-steps" aria-label={text.steps.label}>
          {steps.states.map((state, i) => {
            const step = text.steps[steps.way][i];
            return (
              <li key={step} class={state} aria-current={state === 'now' ? 'step' : undefined}>
                <span aria-hidden="true">{SIGNS[state]}</span> {step}{' '}
                <span class="only-read">({text.steps.states[state]})</span>
              </li>
            );
          })}
        </ol>
      )}
      {registrar.action === 'wait' && (
        <p>
          {registrar.message}
          {registrar.from !== undefined && (
            <>
              {' '}
              {text.notBefore} <Time at={registrar.from} />.
            </>
          )}
        </p>
      )}
      {next !== undefined && status !== 'secure' && (
        <p>
          {text.waitsBecause(next.waits_for ?? '')}{' '}
          {next.step === 'delegation' && <Link to={domainPath(name, 'delegation')}>{text.toDelegation}</Link>}
        </p>
      )}
      {status === 'secure' && signatures !== undefined && (
        <p class="quiet">
          {text.signatures} <Time at={signatures.next_refresh} />.
        </p>
      )}
    </section>
  );
}

export function Findings({ dnssec: { findings, registrar } }: { readonly dnssec: Dnssec }) {
  // Records to enter or remove are shown in their own card.
  const others = findings.filter(({ message }) => !message.startsWith(registrar.message));
  if (others.length === 0) return null;
  return (
    <section class="stack dnssec-findings" aria-label={text.findings}>
      {others.map(({ code, severity, message }) => (
        <div key={code + message} class={`note ${WEIGHTS[severity]}`}>
          <p>
            <strong>{text.severities[severity]}:</strong> {message}
          </p>
        </div>
      ))}
    </section>
  );
}
