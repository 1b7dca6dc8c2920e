// One change in one line: time, actor, source, and counts.

import type { Schemas } from '../../api/client.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { Arrow } from '../../parts/arrow.tsx';
import { Badge, StatusBadge } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { history } from '../../words/history.ts';
import { records } from '../../words/records.ts';
import type { Difference } from '../records/diff.ts';
import { tally } from '../records/diff.ts';
import { actorText } from './actor-text.ts';
import type { NameOf } from './member-names.ts';

export type Change = Schemas['Change'];

export function ChangeHead({
  domain,
  change,
  differences,
  nameOf,
  isLinked = false,
}: {
  readonly isLinked?: boolean;
  readonly domain: string;
  readonly change: Change;
  readonly differences: readonly Difference[];
  readonly nameOf: NameOf;
}) {
  const say = history;
  const { id, at, actor, source, reverts, status, rules = [] } = change;
  return (
    <div class="his-head">
      <span class="his-when">
        <Time at={at} />
      </span>
      <span>
        <strong>{actorText(actor, person().user_id, nameOf)}</strong>
        {actor.address !== undefined && <span class="quiet"> {say.from(actor.address)}</span>}
      </span>
      <Badge>{say.sources[source] ?? source}</Badge>
      <span class="his-what">
        {differences.length > 0 && say.records(tally(differences))}
        {rules.length > 0 && ` ${say.rules(rules.length)}`}
        {status !== undefined && (
          <>
            {' '}
            {status.from === undefined ? say.newDomain : <StatusBadge status={status.from} />} <Arrow />{' '}
            {status.to === undefined ? say.goneDomain : <StatusBadge status={status.to} />}
          </>
        )}
        {reverts !== undefined && (
          <>
            {' '}
            <Link to={domainPath(domain, `history/${reverts}`)}>{say.reverts(reverts)}</Link>
          </>
        )}
      </span>
      {isLinked && (
        <Link to={domainPath(domain, `history/${id}`)} class="his-link">
          {records.changeLink(id)}
        </Link>
      )}
    </div>
  );
}

export function RuleLines({ change }: { readonly change: Change }) {
  const { rules = [] } = change;
  if (rules.length === 0) return null;
  return (
    <ul>
      {rules.map(({ op, before, after }, i) => (
        <li key={i}>{history.rule(op, (after ?? before)?.type ?? '', (after ?? before)?.id ?? 0)}</li>
      ))}
    </ul>
  );
}
