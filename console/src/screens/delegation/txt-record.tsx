// The TXT record that proves an external domain, with the response of each of its servers. A domain that is about to move here may
// use it, too.

import { CopyButton } from '../../parts/button.tsx';
import { delegation } from '../../words/delegation.ts';
import { words } from '../../words/words.ts';
import type { Domain } from '../domain/domain-here.ts';

const text = delegation.txt;

type Verification = NonNullable<Domain['verification']>;
type Answer = NonNullable<Verification['servers']>[number];

const TONES = { found: 'good', absent: 'bad', other: 'bad', error: 'silent' } as const;
const SIGNS = { good: '✓', bad: '≠', silent: '?' } as const;

export function TxtRecord({ domain, record }: { readonly domain: Domain; readonly record: Verification }) {
  const isOptional = domain.dns_mode === 'managed';
  const isDone = record.verified || domain.status === 'active';
  const isExpired = record.seconds_remaining === 0 && !isDone;
  return (
    <section class="card delegation-txt">
      <h2>{isOptional ? text.titleOptional : isDone ? text.titleDone : text.title}</h2>
      <p>{isOptional ? text.optional : isDone ? text.done : text.intro}</p>
      <dl class="facts">
        <Fact term={text.type} value={record.type} />
        <Fact term={text.name} value={record.host} hint={shortHint(record.host, domain.name)} />
        <Fact term={text.value} value={record.value} />
      </dl>
      {record.verified_until !== undefined && record.verified ? (
        <p>
          {text.verified} {words.time.date(new Date(record.verified_until))}.
        </p>
      ) : isExpired ? (
        <p class="note warn">{text.expired}</p>
      ) : (
        !isDone && (
          <p class="quiet">
            {text.expires} {words.time.date(new Date(record.expires_at))}. {text.rule}
          </p>
        )
      )}
    </section>
  );
}

/** Many forms append the domain automatically. */
function shortHint(host: string, domain: string): string | undefined {
  return host.endsWith(`.${domain}`) ? text.short(host.slice(0, -domain.length - 1)) : undefined;
}

function Fact({
  term,
  value,
  hint,
}: {
  readonly term: string;
  readonly value: string;
  readonly hint?: string | undefined;
}) {
  return (
    <>
      <dt>{term}</dt>
      <dd>
        <div class="copyable">
          <code>{value}</code>
          <CopyButton text={value} label={term} />
        </div>
        {hint !== undefined && <span class="quiet">{hint}</span>}
      </dd>
    </>
  );
}

/** The servers of the zone, with their responses. */
export function TxtPicture({ record }: { readonly record: Verification }) {
  const { servers = [], resolvers = [], found, asked, message } = record;
  return (
    <section class="card delegation-picture">
      <div class="row spread">
        <h2>{text.servers}</h2>
        {found !== undefined && asked !== undefined && <span class="quiet">{text.found(found, asked)}</span>}
      </div>
      {servers.length === 0 && <p class="quiet">{text.none}</p>}
      {message !== undefined && <p>{message}</p>}
      <ul class="plain delegation-groups">
        {servers.map((server) => (
          <TxtServer key={`${server.server} ${server.address}`} server={server} />
        ))}
      </ul>
      {resolvers.length > 0 && (
        <details>
          <summary>{text.resolvers}</summary>
          <ul class="plain">
            {resolvers.map(({ address, outcome }) => (
              <li key={address}>
                <span aria-hidden="true">{SIGNS[TONES[outcome]]}</span> <code>{address}</code>{' '}
                {text.outcomes[outcome]}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function TxtServer({ server: { server, address, outcome, values } }: { readonly server: Answer }) {
  const tone = TONES[outcome];
  return (
    <li class={`delegation-band ${tone}`}>
      <div class="delegation-group">
        <div class="delegation-server">
          <strong>{server}</strong>
          <span class="quiet">{address}</span>
        </div>
        <div class="delegation-answer">
          <p class="delegation-verdict">
            <span aria-hidden="true">{SIGNS[tone]}</span> {text.outcomes[outcome]}
          </p>
          {values?.map((value) => (
            <code key={value}>{value}</code>
          ))}
        </div>
      </div>
    </li>
  );
}
