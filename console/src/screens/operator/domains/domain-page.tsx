// One domain of any account: its state and operator actions.

import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { domainPath, Link } from '../../../app/place.tsx';
import { Arrow } from '../../../parts/arrow.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { Badge, StatusBadge } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { delegation } from '../../../words/delegation.ts';
import { domains } from '../../../words/domains.ts';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { compareNames } from '../../delegation/compare-sets.ts';
import { sortFindings } from '../../delegation/sort-findings.ts';
import { delegationLine } from '../../domains/domain-query.ts';
import { sentenceOf } from '../../domains/sentence.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';
import { DomainActions } from './domain-actions.tsx';
import { DomainPlan } from './domain-plan.tsx';

type Domain = components['schemas']['AdminDomain'];
const say = operator.domains;

export default function DomainPage({ id = '' }: { readonly id?: string }) {
  const loaded = useLoad(`operator domain ${id}`, (signal) =>
    dataOf(admin.GET('/admin/domains/{id}', { params: { path: { id: Number(id) } }, signal })),
  );
  useEvery10s(loaded.reload);
  return (
    <div class="stack">
      <p>
        <Link to="/operator/domains">
          <Arrow isBack /> {words.frame.operatorPages.domains}
        </Link>
      </p>
      <Loading of={loaded}>
        {(domain) => (
          <div class="stack">
            <div class="head">
              <h1>{domain.name_unicode}</h1>
              <StatusBadge status={domain.status} />
              {domain.suspended && <Badge tone="bad">{say.suspended}</Badge>}
              <div class="actions">
                <Freshness of={loaded} />
              </div>
            </div>
            <State domain={domain} />
            <div class="ope-cards">
              <div class="stack">
                <section class="card">
                  <h2>{say.state}</h2>
                  <Facts domain={domain} />
                </section>
                <DomainPlan domain={domain} onChanged={loaded.set} />
              </div>
              <section class="card stack">
                <h2>{say.actions}</h2>
                <p>
                  <Link to={domainPath(String(domain.id))}>{say.open}</Link>
                </p>
                <DomainActions domain={domain} onChanged={loaded.set} />
              </section>
            </div>
          </div>
        )}
      </Loading>
    </div>
  );
}

function State({ domain }: { readonly domain: Domain }) {
  const findings = sortFindings(domain.findings);
  if (domain.status === 'active') return <Findings findings={findings} />;
  const [reason, ...others] = findings;
  return (
    <>
      <Why domain={domain} status={domain.status} reason={reason?.message} />
      {others.length > 0 && <Findings findings={others} />}
    </>
  );
}

/** Answers in one card why a domain is not live, for support. */
function Why({
  domain,
  status,
  reason = `${sentenceOf(delegationLine(domain))}.`,
}: {
  readonly domain: Domain;
  readonly status: keyof typeof say.why;
  readonly reason: string | undefined;
}) {
  const since = domain.pending_since ?? domain.verification_started_at ?? domain.moved_since;
  const isManaged = domain.dns_mode === 'managed' && status !== 'banned' && domain.current_ns !== undefined;
  const changes = isManaged ? compareNames(domain.current_ns ?? [], domain.svc_ns) : [];
  return (
    <section class="card">
      <h2>{say.why[status]}</h2>
      <p>
        <strong>{reason}</strong> {domain.status_reason?.message}
      </p>
      {changes.length > 0 && (
        <ul class="plain">
          {changes.map(({ name, mark }) => (
            <li key={`${mark} ${name}`}>
              <span class="ope-mark">{delegation.registrar[mark]}</span> <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
      {domain.verification !== undefined && domain.dns_mode === 'external' && (
        <p>
          <code>{`${domain.verification.host} TXT ${domain.verification.value}`}</code>
        </p>
      )}
      <p class="quiet">
        {since !== undefined && (
          <>
            {say.since} <Time at={since} />
            {'; '}
          </>
        )}
        {say.nextCheck} <Time at={domain.next_check_at} />
      </p>
    </section>
  );
}

function Findings({ findings }: { readonly findings: readonly Domain['findings'][number][] }) {
  return (
    <section>
      <h2>{say.findings}</h2>
      {findings.length === 0 ? (
        <p class="quiet">{say.noFindings}</p>
      ) : (
        <ul class="plain ope-problems">
          {findings.map(({ code, message }) => (
            <li key={code} class="note warn">
              <strong>{code}</strong> {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Facts({ domain }: { readonly domain: Domain }) {
  const { facts } = say;
  const { subscription } = domain;
  return (
    <dl class="facts">
      <dt>{facts.owner}</dt>
      <dd>
        <Link to={`/operator/accounts/${domain.user_id}`}>{domain.user_email}</Link>
      </dd>
      <dt>{facts.id}</dt>
      <dd>{domain.id}</dd>
      <dt>{facts.mode}</dt>
      <dd>{domains.modes[domain.dns_mode]}</dd>
      {domain.status_reason !== undefined && (
        <>
          <dt>{facts.reason}</dt>
          <dd>{domain.status_reason.message}</dd>
        </>
      )}
      {domain.status_until !== undefined && (
        <>
          <dt>{facts.until}</dt>
          <dd>
            <Time at={domain.status_until} />
          </dd>
        </>
      )}
      {domain.suspended && (
        <>
          <dt>{facts.suspended}</dt>
          <dd>
            <Time at={domain.suspended_at} />{' '}
            {words.figures.listed(domain.suspended_by.map((by) => say.by[by]))}
          </dd>
        </>
      )}
      <dt>{facts.served}</dt>
      <dd>{domain.served === undefined ? '—' : say.served[domain.served]}</dd>
      <dt>{facts.serial}</dt>
      <dd>{domain.serial}</dd>
      <dt>{facts.wanted}</dt>
      <dd>
        <Lines of={domain.svc_ns} />
      </dd>
      <dt>{facts.current}</dt>
      <dd>{domain.current_ns === undefined ? say.nothingSeen : <Lines of={domain.current_ns} />}</dd>
      <dt>{facts.dnssec}</dt>
      <dd>{domain.dnssec.status}</dd>
      <dt>{facts.plan}</dt>
      <dd>{subscription?.plan.name ?? say.noPlan}</dd>
      {subscription?.expires_at !== undefined && (
        <>
          <dt>{facts.planEnds}</dt>
          <dd>
            <Time at={subscription.expires_at} />
          </dd>
        </>
      )}
      <dt>{facts.next}</dt>
      <dd>
        <Time at={domain.next_check_at} />
      </dd>
      <dt>{facts.changed}</dt>
      <dd>
        <Time at={domain.updated_at} />
      </dd>
      <dt>{facts.added}</dt>
      <dd>
        <Time at={domain.created_at} />
      </dd>
    </dl>
  );
}

function Lines({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <>—</>;
  return (
    <ul class="plain">
      {of.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
