// The nameservers to enter at the registrar, and the changes that are needed there.

import { domainPath, Link } from '../../app/place.tsx';
import { CopyButton } from '../../parts/button.tsx';
import { delegation } from '../../words/delegation.ts';
import { type Domain, mayDo } from '../domain/domain-here.ts';
import { compareNames, type MarkedName } from './compare-sets.ts';
import type { Check } from './use-checks.ts';
import { duration } from './words-of.ts';

const text = delegation.registrar;
export const SIGNS = { keep: '✓', remove: '✕', add: '+' } as const;

export function Registrar({ domain, check }: { readonly domain: Domain; readonly check: Check | undefined }) {
  const wanted = domain.svc_ns;
  if (wanted.length === 0) return null;
  const listed = check?.current_ns ?? domain.current_ns ?? [];
  const lines = compareNames(listed, wanted);
  const interval = domain.ns_check_interval_seconds;
  const leaves = lines.some(({ mark }) => mark === 'remove');
  const isRight = lines.every(({ mark }) => mark === 'keep');
  const others = domain.svc_ns_sets.filter((set) => set.join() !== wanted.join());
  const ttl = Math.max(0, ...(check?.evidence ?? []).map(({ ttl }) => ttl ?? 0));
  const hasStaleDs = [...domain.findings, ...(check?.findings ?? [])].some(({ code }) => code === 'STALE_DS');
  return (
    <section class="card delegation-registrar">
      <h2>{titleOf(lines)}</h2>
      {hasStaleDs && <p class="note warn">{text.ds}</p>}
      {!isRight && (
        <ol>
          {text.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )}
      {isRight || listed.length === 0 ? <Lines names={wanted} /> : <Changes lines={lines} />}
      <div class="row">
        <CopyButton text={wanted.join('\n')} label={text.allLabel} shown={text.all} />
        <span class="quiet">
          {isRight ? text.nothing : listed.length === 0 ? text.exactly : text.afterwards}
        </span>
      </div>
      {!isRight && domain.status === 'pending' && (
        <p>
          {text.expected}
          {interval !== undefined && ` ${text.interval(duration(interval))}`}
        </p>
      )}
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

/** Each name to add can be copied. */
function Changes({ lines }: { readonly lines: readonly MarkedName[] }) {
  return (
    <ul class="plain delegation-changes" aria-label={text.changes}>
      {lines.map(({ name, mark }) => (
        <li key={`${mark} ${name}`} class={mark}>
          <span class="delegation-mark">
            <span aria-hidden="true">{SIGNS[mark]}</span> {text[mark]}
          </span>
          <code>{name}</code>
          {mark === 'add' && <CopyButton text={name} label={name} />}
        </li>
      ))}
    </ul>
  );
}

function titleOf(lines: readonly MarkedName[]): string {
  const [keep, remove, add] = (['keep', 'remove', 'add'] as const).map((mark) =>
    lines.filter((line) => line.mark === mark).map(({ name }) => name),
  ) as [string[], string[], string[]];
  if (add.length === 0) return remove.length === 0 ? text.titleDone : text.titleRemove(remove);
  if (remove.length > 0) return keep.length === 0 ? text.titleReplace : text.titleChange;
  return keep.length === 0 ? text.titleEnter : text.titleAdd(add);
}
