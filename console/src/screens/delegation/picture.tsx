// Shows the delegation as a diagram: the path from the root to the parent zone, the response of each server, and the expected
// nameservers. On a narrow page it is a list in the same order.

import { Time } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';
import { words } from '../../words/words.ts';
import type { Domain } from '../domain/domain-here.ts';
import { compareNames, type MarkedName, type NameMark } from './compare-sets.ts';
import { type AnswerGroup, groupAnswers, type ServerAnswer, verdictOf } from './group-answers.ts';
import { type Progress, wayOf, wayTo } from './read-progress.ts';
import { SIGNS } from './registrar.tsx';
import { ServerTable } from './server-table.tsx';
import type { Check } from './use-checks.ts';

const text = delegation;
const TONE_SIGNS = { good: '✓', bad: '≠', silent: '?' } as const;

interface PictureProps {
  readonly domain: Domain;
  readonly check: Check | undefined;
  /** True if it is known whether a check exists. */
  readonly isKnown: boolean;
  /** True while the person waits for a check. */
  readonly isLooking: boolean;
  readonly progress: Progress | undefined;
}

export function Picture({ domain, check, isKnown, isLooking, progress }: PictureProps) {
  // Until the first progress event, the previous result stays, dimmed.
  const isDim = isLooking && progress === undefined && check !== undefined;
  const live = isLooking && !isDim ? (progress ?? { zones: ['.'], servers: [] }) : undefined;
  const walk = check?.walk ?? [];
  const zones = live?.zones ?? (walk.length > 0 ? wayOf(walk) : wayTo(check?.parent));
  const zone = (live === undefined ? check?.parent : undefined) ?? zones.at(-1) ?? '.';
  return (
    <section class="card delegation-picture" aria-busy={isLooking}>
      <div class="row spread">
        <h2>{text.picture.title}</h2>
        <span class="quiet">
          {isLooking ? (
            text.picture.live
          ) : check === undefined ? null : (
            <>
              {text.picture.looked} <Time at={check.last_seen_at} />
            </>
          )}
        </span>
      </div>
      {check === undefined && live === undefined ? (
        <p class="quiet">{isKnown ? text.picture.none : words.common.loading}</p>
      ) : (
        <div class={`delegation-way ${isDim ? 'delegation-dim' : ''}`}>
          <Way zones={zones} security={live === undefined ? check?.security : undefined} />
          <div class="delegation-middle">
            <h3>{text.picture.servers(nameOf(zone))}</h3>
            {live === undefined ? (
              <Groups domain={domain} check={check} />
            ) : (
              <Arrivals servers={live.servers} />
            )}
          </div>
          <Ours names={domain.svc_ns} />
        </div>
      )}
      {live === undefined && check !== undefined && (
        <>
          <Vantages check={check} />
          {(check.evidence ?? []).length > 0 && (
            <details>
              <summary>{text.picture.details}</summary>
              <ServerTable servers={check.evidence ?? []} />
            </details>
          )}
        </>
      )}
    </section>
  );
}

export function nameOf(zone: string): string {
  return zone === '' || zone === '.' ? text.picture.root.toLowerCase() : zone;
}

export function Way({
  zones,
  security,
  parentHint = text.picture.zone,
}: {
  readonly zones: readonly string[];
  readonly security: Check['security'];
  readonly parentHint?: string;
}) {
  const last = zones.at(-1) ?? '.';
  const before = zones.slice(0, -1);
  return (
    <div class="delegation-path">
      <h3>{text.picture.way}</h3>
      <ol class="plain delegation-before">
        {before.map((zone) => (
          <Zone key={zone} zone={zone} hint={zone === '.' ? text.picture.rootHint : text.picture.step} />
        ))}
      </ol>
      <ol class="plain delegation-parent" start={zones.length}>
        <Zone
          zone={last}
          hint={last === '.' && before.length === 0 ? text.picture.rootHint : parentHint}
          security={security === 'indeterminate' ? undefined : security}
        />
      </ol>
    </div>
  );
}

function Zone({
  zone,
  hint,
  security,
}: {
  readonly zone: string;
  readonly hint: string;
  readonly security?: Check['security'];
}) {
  return (
    <li>
      <strong>{zone === '.' ? text.picture.root : zone}</strong>
      <span class="quiet">{hint}</span>
      {security !== undefined && <span class="quiet">{text.picture[security]}</span>}
    </li>
  );
}

function Groups({ domain, check }: { readonly domain: Domain; readonly check: Check | undefined }) {
  const groups = groupAnswers(check?.evidence ?? [], domain.svc_ns_sets);
  if (groups.length === 0) {
    return (
      <div class="note warn">
        <p>{text.picture.noServers}</p>
        {check?.failure !== undefined && (
          <p class="quiet">{`${nameOf(check.failure.zone)}: ${check.failure.message}`}</p>
        )}
      </div>
    );
  }
  return (
    <ol class="plain delegation-groups">
      {groups.map((group) => (
        <li key={group.key} class={`delegation-band ${group.tone}`}>
          <div class="delegation-group">
            <ul class="plain delegation-servers">
              {group.servers.map((server) => (
                <Server key={`${server.server} ${server.address}`} server={server} />
              ))}
            </ul>
            <Answer group={group} wanted={domain.svc_ns} accepted={domain.svc_ns_sets} />
          </div>
        </li>
      ))}
    </ol>
  );
}

export function Server({ server }: { readonly server: ServerAnswer }) {
  const { server: name, address, outcome, rtt_ms: ms, transport } = server;
  const said = text.outcomes[outcome as keyof typeof text.outcomes] ?? outcome;
  return (
    <li class="delegation-server">
      <span class="delegation-asked">
        <strong>{name}</strong>
        {ms !== undefined && <span class="delegation-ms">{text.picture.ms(ms)}</span>}
      </span>
      <span class="quiet">
        {[transport === 'database' ? text.columns.database : address, said].filter(Boolean).join(' · ')}
      </span>
    </li>
  );
}

function Answer({
  group,
  wanted,
  accepted,
}: {
  readonly group: AnswerGroup;
  readonly wanted: readonly string[];
  readonly accepted: readonly (readonly string[])[];
}) {
  const { verdict, tone, ns } = group;
  // Another complete accepted set is also correct.
  const set = verdict === 'match' ? ns : wanted;
  const isForeign = verdict === 'foreign';
  const lines = compareNames(ns, set).filter(({ mark }) => !(isForeign && mark === 'add'));
  const ours = new Set(accepted.flat());
  return (
    <div class="delegation-answer">
      <p class="delegation-verdict">
        <span aria-hidden="true">{TONE_SIGNS[tone]}</span> {text.verdicts[verdict]}
      </p>
      {ns.length > 0 && <Names lines={lines} isOurs={(name) => ours.has(name)} />}
    </div>
  );
}

function Names({
  lines,
  isOurs,
}: {
  readonly lines: readonly MarkedName[];
  readonly isOurs: (name: string) => boolean;
}) {
  const told = (name: string, mark: NameMark) =>
    mark === 'remove' && isOurs(name) ? text.picture.ofAnother : text.picture.mark[mark];
  return (
    <ul class="plain delegation-names">
      {lines.map(({ name, mark }) => (
        <li key={`${mark} ${name}`} class={mark}>
          <span class="delegation-name">
            <span aria-hidden="true">{SIGNS[mark]}</span> {name}
          </span>
          <span class="delegation-told">{told(name, mark)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The servers that have responded while a check runs. */
function Arrivals({ servers }: { readonly servers: readonly ServerAnswer[] }) {
  return (
    <ul class="plain delegation-arrivals">
      {servers.map((server) => (
        <li
          key={`${server.server} ${server.address}`}
          class={`delegation-band ${verdictOf(server, []) === 'silent' ? 'silent' : ''}`}
        >
          <ul class="plain delegation-group">
            <Server server={server} />
          </ul>
        </li>
      ))}
      <li class="delegation-band waiting">
        <div class="delegation-group">
          <span class="delegation-waiting" aria-hidden="true" />
        </div>
      </li>
    </ul>
  );
}

function Ours({ names }: { readonly names: readonly string[] }) {
  return (
    <div class="delegation-ours">
      <h3>{text.picture.ours}</h3>
      <ul class="plain delegation-names">
        {names.map((name) => (
          <li key={name} class="keep">
            <span class="delegation-name">{name}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const VANTAGE_TONES = { agrees: 'good', differs: 'bad', silent: 'silent' } as const;

function Vantages({ check }: { readonly check: Check }) {
  if (check.vantages === undefined || check.vantages.length === 0) return null;
  return (
    <>
      <h3>{text.picture.vantages}</h3>
      <ul class="plain delegation-vantages">
        {check.vantages.map(({ network, word, ns }) => (
          <li key={network}>
            <span aria-hidden="true">{TONE_SIGNS[VANTAGE_TONES[word]]}</span> <strong>{network}</strong>{' '}
            {text.picture[word]}
            {ns !== undefined && <span class="quiet"> {words.figures.listed(ns)}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
