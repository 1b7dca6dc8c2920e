// The keys as timelines, with their DS records and what the next step waits for.

import { Steps } from '../../parts/steps.tsx';
import { Time } from '../../parts/time.tsx';
import { dnssec } from '../../words/dnssec.ts';
import type { Dnssec } from './steps.ts';

const text = dnssec.keys;

type Key = Dnssec['keys'][number];

const LIFE = ['made', 'published', 'signing', 'retiring', 'withdrawn'] as const;
/** A removed key is no longer shown after this many days. */
const GONE_SHOWN = 3;

export function Keys({
  dnssec: { keys, algorithm, denial, next_denial: next },
}: {
  readonly dnssec: Dnssec;
}) {
  if (keys.length === 0) return null;
  const here = keys.filter(({ state }) => state !== 'withdrawn');
  const gone = keys.filter(({ state }) => state === 'withdrawn').slice(-GONE_SHOWN);
  return (
    <section class="card dnssec-keys">
      <h2>{text.title}</h2>
      <p class="quiet">
        {text.made(algorithm.name, denial)}
        {next !== undefined && ` ${text.changing(next)}`}
      </p>
      <ol class="plain">
        {[...here, ...gone].map((key) => (
          <KeyLine key={key.id} of={key} />
        ))}
      </ol>
    </section>
  );
}

function KeyLine({ of: key }: { readonly of: Key }) {
  const { key_tag: tag, role, state, ds, made_at: madeAt, next } = key;
  return (
    <li class={`dnssec-key ${state}`}>
      <div class="row spread">
        <h3>{text.name(tag)}</h3>
        <span class="quiet">
          {text.roles[role]} · {text.madeAt} <Time at={madeAt} />
        </span>
      </div>
      <Steps label={text.life(tag)} titles={LIFE.map((each) => text.states[each])} at={LIFE.indexOf(state)} />
      {state !== 'withdrawn' && (
        <p>
          <strong>{text.dsLabel}</strong> {text.ds[ds]}
        </p>
      )}
      {next !== undefined && (
        <p class="dnssec-next">
          <strong>{text.next}</strong> {next.waits_for ?? text.waitsForYou}
          {next.at !== undefined && (
            <>
              {' '}
              ({text.from} <Time at={next.at} />)
            </>
          )}
        </p>
      )}
    </li>
  );
}
