// The state of the domain in one sentence, and its steps to become active.

import type { ComponentChildren } from 'preact';
import { domainPath, Link } from '../../app/place.tsx';
import { Steps } from '../../parts/steps.tsx';
import { Time } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';
import type { Domain } from '../domain/domain-here.ts';
import type { Check } from './use-checks.ts';

const text = delegation;

type Tone = 'good' | 'warn' | 'bad' | 'quiet';

const TONES: Readonly<Record<Domain['status'], Tone>> = {
  active: 'good',
  pending: 'warn',
  unverified: 'warn',
  moved: 'bad',
  disabled: 'quiet',
  banned: 'bad',
};
const SIGNS: Readonly<Record<Tone, string>> = { good: '✓', warn: '…', bad: '!', quiet: '–' };

export function Standing({
  domain,
  check,
  isKnown,
  children,
}: {
  readonly domain: Domain;
  readonly check: Check | undefined;
  /** True if it is known whether a check exists. */
  readonly isKnown: boolean;
  readonly children: ComponentChildren;
}) {
  const { status } = domain;
  const tone = TONES[status];
  const served = servedText(domain);
  return (
    <section class={`card delegation-standing ${tone}`}>
      <div class="delegation-said">
        <span class="delegation-sign" aria-hidden="true">
          {SIGNS[tone]}
        </span>
        <div>
          <h2>
            {status === 'active' && domain.dns_mode === 'external'
              ? text.headlineProved
              : text.headlines[status]}
          </h2>
          <p>{leadOf(domain, check, isKnown)}</p>
          {served !== undefined && <p class="quiet">{served}</p>}
          {status === 'disabled' && (
            <p>
              {text.disabled.text}{' '}
              <Link to={domainPath(domain.name, 'settings')}>{text.disabled.enable}</Link>
            </p>
          )}
        </div>
      </div>
      {(status === 'pending' || status === 'unverified') && (
        // The second step is done if the newest check found it, and the third if the status shows it.
        <Steps
          label={text.steps.title}
          titles={text.steps[domain.dns_mode]}
          at={domain.dns_mode === 'managed' && check?.verdict === 'match' ? 2 : 1}
        />
      )}
      {status === 'moved' && <Moved domain={domain} />}
      {children}
    </section>
  );
}

function leadOf(
  { status, status_reason: reason, dns_mode: mode }: Domain,
  check: Check | undefined,
  isKnown: boolean,
): string {
  switch (status) {
    case 'pending':
      if (check === undefined) return isKnown ? text.lead.none : text.lead.waiting;
      return check.findings.some(({ code }) => code === 'PARENTS_DISAGREE')
        ? text.lead.disagree
        : text.lead.pending[check.verdict];
    case 'unverified':
      return text.lead.unverified;
    case 'active':
      if (mode === 'external') return text.lead.activeExternal;
      return check === undefined || check.verdict === 'match' ? text.lead.active : text.lead.activeDiffers;
    case 'banned':
      return text.lead.banned;
    default:
      return reason?.message ?? '';
  }
}

/** Describes what our nameservers serve, if that is not obvious. */
function servedText({ status, dns_mode: mode, served }: Domain): string | undefined {
  if (served === undefined || mode === 'external') return undefined;
  if (status === 'pending' || status === 'moved') return text.served[status][served];
  return undefined;
}

function Moved({ domain }: { readonly domain: Domain }) {
  return (
    <div class="delegation-moved">
      <h3>{text.moved.title}</h3>
      <ul>
        {domain.status_until !== undefined && (
          <li>
            {text.moved.until} <Time at={domain.status_until} />. {text.moved.after}
          </li>
        )}
        <li>{text.moved.back}</li>
        <li>{text.moved.meant}</li>
      </ul>
    </div>
  );
}
