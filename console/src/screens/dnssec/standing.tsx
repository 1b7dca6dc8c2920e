// The DNSSEC state in one sentence, the steps of the current change, and the findings.

import { domainPath, Link } from '../../app/place.tsx';
import { Badge } from '../../parts/status.tsx';
import { Steps } from '../../parts/steps.tsx';
import { Time } from '../../parts/time.tsx';
import { dnssec as dnssecWords } from '../../words/dnssec.ts';
import { useDomain } from '../domain/domain-here.ts';
import { type Dnssec, stepsOf } from './steps.ts';

const text = dnssecWords;

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
const WEIGHTS = { error: 'bad', warning: 'warn', info: '' } as const;

export function Standing({ dnssec }: { readonly dnssec: Dnssec }) {
  const { name } = useDomain();
  const { status, registrar, signatures, keys } = dnssec;
  const next = keys.find((key) => key.next?.waits_for !== undefined)?.next;
  // Later than this if something else is missing then.
  const nextAt = registrar.action === 'wait' ? (registrar.from ?? next?.at) : undefined;
  const steps = stepsOf(dnssec);
  return (
    <section class={`card dnssec-standing ${TONES[status]}`}>
      <div class="row">
        <h2>{text.headlines[status]}</h2>
        <Badge tone={TONES[status]}>{text.statuses[status]}</Badge>
      </div>
      <p>{text.leads[status]}</p>
      {steps !== undefined && status !== 'secure' && (
        <Steps label={text.steps.label} titles={text.steps[steps.way]} at={steps.at} />
      )}
      {nextAt !== undefined && (
        <p>
          <strong>
            {text.nextStep} <Time at={nextAt} />
          </strong>
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
