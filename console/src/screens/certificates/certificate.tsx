// Details of a domain's certificate: names, times, issuer, and the last error.

import type { Schemas } from '../../api/client.ts';
import { Note } from '../../parts/failure.tsx';
import { Badge } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { certificates } from '../../words/certificates.ts';

const text = certificates;

export type Ssl = Schemas['Ssl'];

const TONES = {
  none: '',
  pending: 'warn',
  issued: 'good',
  failed: 'bad',
  expiring: 'warn',
  custom: 'good',
} as const;

export function Certificate({ ssl }: { readonly ssl: Ssl }) {
  const { status, names, not_before: from, not_after: until, issuer, fingerprint, renews_at: renewsAt } = ssl;
  return (
    <section class="card">
      <div class="row">
        <h2>{text.headlines[status]}</h2>
        <Badge tone={TONES[status]}>{text.statuses[status]}</Badge>
      </div>
      <p>{text.leads[status]}</p>
      {ssl.last_error !== undefined && (
        <Note tone="bad">
          <p>
            <strong>{text.lastError}</strong> {ssl.last_error}
            {ssl.failed_at !== undefined && (
              <>
                {' '}
                (<Time at={ssl.failed_at} />)
              </>
            )}
          </p>
          {ssl.next_attempt_at !== undefined && (
            <p>
              {text.nextAttempt} <Time at={ssl.next_attempt_at} />.
            </p>
          )}
        </Note>
      )}
      <dl class="facts">
        {names.length > 0 && (
          <>
            <dt>{text.names}</dt>
            <dd>
              <ul class="plain cert-names">
                {names.map((each) => (
                  <li key={each}>
                    <code>{each}</code>
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        {until !== undefined && (
          <>
            <dt>{text.valid}</dt>
            <dd>
              {from !== undefined && (
                <>
                  {text.since} <Time at={from} />,{' '}
                </>
              )}
              {text.ends} <Time at={until} />
            </dd>
          </>
        )}
        {renewsAt !== undefined && (
          <>
            <dt>{text.renews}</dt>
            <dd>
              <Time at={renewsAt} />
            </dd>
          </>
        )}
        {issuer !== undefined && (
          <>
            <dt>{text.issuer}</dt>
            <dd>{issuer}</dd>
          </>
        )}
        {fingerprint !== undefined && (
          <>
            <dt>{text.fingerprint}</dt>
            <dd>
              <code>{fingerprint}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
