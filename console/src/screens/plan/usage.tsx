// Usage of the plan's limits, with a bar if there is a limit.

import type { Schemas } from '../../api/client.ts';
import { count } from '../../parts/time.tsx';
import { plan } from '../../words/plan.ts';
import { percentOf } from './plan-terms.ts';

const text = plan.usage;
const NEARLY = 90;

export function Usage({ of }: { readonly of: Schemas['Entitlements'] }) {
  // Rule types without rules are not shown.
  const shown = of.domain_usage.filter(({ name, used }) => used > 0 || !name.startsWith('rules_'));
  return (
    <section class="card" aria-labelledby="plan-usage">
      <h2 id="plan-usage">{text.title}</h2>
      <ul class="plain plan-usage">
        {shown.map(({ name, used, limit }) => {
          const percent = percentOf(used, limit);
          return (
            <li key={name}>
              <span class="row spread">
                <span>{text.names[name]}</span>
                <span class="number">
                  {limit === null ? text.unlimited(count(used)) : text.of(count(used), count(limit))}
                </span>
              </span>
              {percent !== undefined && (
                <meter
                  min={0}
                  max={100}
                  high={NEARLY}
                  optimum={0}
                  value={percent}
                  aria-label={text.names[name]}
                >
                  {percent} %
                </meter>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
