// The nameservers to enter at the registrar, and the changes that are needed there.

import { domainPath, Link } from '../../app/place.tsx';
import { CopyButton } from '../../parts/button.tsx';
import { words } from '../../words/words.ts';
import { type Domain, mayDo } from '../domain/domain-here.ts';
import { compareNames, type MarkedName } from './compare-sets.ts';
import type { Check } from './use-checks.ts';
import { duration } from './words-of.ts';

const text = words.delegation.registrar;
export const SIGNS = { keep: '✓', remove: '✕', add: '+' } as const;

export function Registrar({ domain, check }: { readonly domain: Domain; readonly check: Check | undefined }) {
  const wanted = domain.svc_ns;
  if (wanted.length === 0) return null;
  const listed = check?.current_ns ?? domain.current_ns ?? [];
  const lines = compareNames(listed, wanted);
  const leaves = lines.some(({ mark }) => mark === 'remove');
  const isRight = lines.every(({ mark }) => mark === 'keep');
  const others = domain.svc_ns_sets.filter((set) => set.join() !== wanted.join());
  const ttl = Math.max(0, ...(check?.evidence ?? []).map(({ ttl }) => ttl ?? 0));
  const hasStaleDs = [...domain.findings, ...(check?.findings ?? [])].some(({ code }) => code === 'STALE_DS');
  return (
    <section class="card delegation-registrar">
      <h2>{isRight ? text.titleDone : text.title}</h2>
      {!isRight && (
        <>
          <p>{text.intro}</p>
          <ol>
            {text.steps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </>
      )}
      <div class="row spread">
        <h3>{text.wanted}</h3>
        <CopyButton text={wanted.join('\n')} label={text.allLabel} shown={text.all} />
      </div>
      <Lines names={wanted} />
      <p class="quiet">{isRight ? text.nothing : text.exactly}</p>
      {!isRight && listed.length > 0 && <Changes lines={lines} />}
      {hasStaleDs && <p class="note warn">{text.ds}</p>}
      {leaves && ttl > 0 && <p class="quiet">{text.ttl(duration(ttl))}</p>}
      {others.length > 0 && (
        <details>
          <summary>{text.several(others.length)}</summary>
          {others.map((set, i) => (
            <div key={set.join()}>
              <div class="row spread">
                <h3>{text.otherSet(i + 1)}</h3>
                <CopyButton text={set.join('\n')} label={text.ofOtherSet(i + 1)} shown={text.all} />
              </div>
              <Lines names={set} />
            </div>
          ))}
          {mayDo(domain, 'domain.settings') && (
            <p>
              <Link to={domainPath(domain.name, 'settings')}>{text.choose}</Link>
            </p>
          )}
        </details>
      )}
    </section>
  );
}

function Lines({ names }: { readonly names: readonly string[] }) {
  return (
    <ul class="plain delegation-lines">
      {names.map((name) => (
        <li key={name} class="copyable">
          <code>{name}</code>
          <CopyButton text={name} label={name} />
        </li>
      ))}
    </ul>
  );
}

function Changes({ lines }: { readonly lines: readonly MarkedName[] }) {
  return (
    <>
      <h3>{text.changes}</h3>
      <ul class="plain delegation-changes">
        {lines.map(({ name, mark }) => (
          <li key={`${mark} ${name}`} class={mark}>
            <span class="delegation-mark">
              <span aria-hidden="true">{SIGNS[mark]}</span> {text[mark]}
            </span>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
