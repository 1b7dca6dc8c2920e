// The findings, most urgent first, each with advice and the place to act.

import { Time } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';
import type { Domain } from '../domain/domain-here.ts';
import { type SortedFinding, splitFindings, type Weight } from './sort-findings.ts';
import type { Check } from './use-checks.ts';

const text = delegation.findings;
const WEIGHTS: readonly Weight[] = ['act', 'improve', 'know'];
const SIGNS: Readonly<Record<Weight, string>> = { act: '!', improve: '↑', know: 'i' };

export function FindingList({
  domain,
  check,
}: {
  readonly domain: Domain;
  readonly check: Check | undefined;
}) {
  const child = check?.child;
  const { main, present } = splitFindings(domain.findings, child?.findings ?? [], check?.verdict);
  // Before a domain is live, an empty list does not mean that everything is fine.
  const isHealthy = main.length === 0 && domain.status === 'active';
  if (main.length === 0 && present.length === 0 && !isHealthy) return null;
  return (
    <section class="card delegation-findings">
      <h2>{text.title}</h2>
      {isHealthy && <p class="quiet">{text.none}</p>}
      <ByWeight findings={main} />
      {present.length > 0 && (
        <details>
          <summary>{text.present(present.length)}</summary>
          <ByWeight findings={present} />
        </details>
      )}
      {child !== undefined && (
        <p class="quiet">
          {text.child} <Time at={child.checked_at} />. {!child.complete && text.cut}
        </p>
      )}
    </section>
  );
}

function ByWeight({ findings }: { readonly findings: readonly SortedFinding[] }) {
  return WEIGHTS.map((weight) => {
    const those = findings.filter((finding) => finding.weight === weight);
    if (those.length === 0) return null;
    return (
      <div key={weight}>
        <h3>{text.weights[weight]}</h3>
        <ul class="plain">
          {those.map((finding) => (
            <Finding key={`${finding.code} ${finding.message}`} finding={finding} />
          ))}
        </ul>
      </div>
    );
  });
}

function Finding({ finding }: { readonly finding: SortedFinding }) {
  const { weight, message, code, place } = finding;
  return (
    <li class={`delegation-finding ${weight}`}>
      <span class="delegation-weight" aria-hidden="true">
        {SIGNS[weight]}
      </span>
      <div>
        <p dir="auto">{message}</p>
        <p class="quiet">
          <code>{code}</code>
          {place !== undefined && ` · ${text.places[place as keyof typeof text.places] ?? place}`}
        </p>
      </div>
    </li>
  );
}
