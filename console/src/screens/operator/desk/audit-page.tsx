// The audit log of all accounts, with old and new values.

import type { components } from '../../../api/admin-schema.d.ts';
import { admin } from '../../../api/client.ts';
import { pageOf, usePages } from '../../../api/use-pages.ts';
import { Link, usePlace } from '../../../app/place.tsx';
import { exact, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { changedFields } from '../../account/changed-fields.ts';
import { ChoiceFilter, ID, idIn, oneOf, TextFilter } from '../filters.tsx';
import { AT_ONCE, WatchedList } from '../watched-list.tsx';
import { AUDIT_GROUPS, type AuditGroup, dayStart } from './audit-query.ts';

type Entry = components['schemas']['AuditEntry'];
const say = operator.audit;
const ACTORS = ['session', 'key', 'token', 'tsig', 'cli', 'system'] as const;
const GROUPS = Object.keys(AUDIT_GROUPS) as AuditGroup[];
const FILTERS = ['group', 'actor', 'since', 'until', 'by', 'user', 'domain'];

export default function AuditPage() {
  const { query } = usePlace();
  const group = oneOf(query.group, GROUPS);
  const wish = {
    action: group === undefined ? undefined : AUDIT_GROUPS[group].join(),
    actor: oneOf(query.actor, ACTORS),
    since: dayStart(query.since),
    until: dayStart(query.until, 1),
    by: idIn(query.by),
    user: idIn(query.user),
    domain: idIn(query.domain),
  };
  const pages = usePages<Entry>(`operator audit ${JSON.stringify(wish)}`, (cursor, signal) =>
    pageOf(admin.GET('/admin/audit', { params: { query: { ...wish, limit: AT_ONCE, cursor } }, signal })),
  );
  return (
    <WatchedList<Entry>
      title={words.frame.operatorPages.audit}
      pages={pages}
      keyOf={({ id }) => id}
      none={{ title: say.none }}
      filterNames={FILTERS}
      filters={
        <>
          <ChoiceFilter
            name="group"
            label={say.filters.group}
            choices={GROUPS.map((each) => [each, say.groups[each]])}
          />
          <ChoiceFilter
            name="actor"
            label={say.filters.actor}
            choices={ACTORS.map((each) => [each, say.actors[each]])}
          />
          <TextFilter name="since" type="date" label={say.filters.since} />
          <TextFilter name="until" type="date" label={say.filters.until} />
          <TextFilter name="by" label={say.filters.by} hint={say.filters.number} pattern={ID} />
          <TextFilter name="user" label={say.filters.user} hint={say.filters.number} pattern={ID} />
          <TextFilter name="domain" label={say.filters.domain} hint={say.filters.number} pattern={ID} />
        </>
      }
      columns={[
        {
          key: 'at',
          title: say.columns.at,
          cell: ({ at }) => (
            <>
              <Time at={at} />
              <span class="ope-change quiet ltr">{exact(at)}</span>
            </>
          ),
          text: ({ at }) => at,
        },
        { key: 'who', title: say.columns.who, cell: (entry) => <Actor entry={entry} />, text: actorText },
        {
          key: 'action',
          title: say.columns.action,
          cell: ({ action }) => <code class={action === 'session.fail' ? 'problem' : ''}>{action}</code>,
          text: ({ action }) => action,
        },
        { key: 'on', title: say.columns.on, cell: (entry) => <Target entry={entry} />, text: targetText },
        {
          key: 'how',
          title: say.columns.how,
          cell: ({ before, after }) =>
            changedFields(before, after).map((line) => (
              <span class="ope-change quiet" key={line}>
                {line}
              </span>
            )),
          text: ({ before, after }) => changedFields(before, after).join('; '),
        },
      ]}
    />
  );
}

function actorText({ actor: { kind, name, user_id, key_id, address } }: Entry): string {
  return words.figures.listed([
    say.actors[kind],
    name,
    user_id !== undefined && say.account(user_id),
    key_id !== undefined && say.key(key_id),
    address,
  ]);
}

function Actor({ entry }: { readonly entry: Entry }) {
  const { kind, name, user_id: userId, key_id: keyId, address } = entry.actor;
  return (
    <>
      {userId === undefined ? (
        (name ?? say.actors[kind])
      ) : (
        <Link to={`/operator/accounts/${userId}`}>{say.account(userId)}</Link>
      )}
      <span class="ope-change quiet">
        {words.figures.listed([
          (userId !== undefined || name !== undefined) && say.actors[kind],
          keyId !== undefined && say.key(keyId),
          address,
        ])}
      </span>
    </>
  );
}

function targetText({ target }: Entry): string {
  return target.name ?? `${target.kind}${target.id === undefined ? '' : ` ${target.id}`}`;
}

function Target({ entry }: { readonly entry: Entry }) {
  const { target, domain_id: domain, user_id: user } = entry;
  const to =
    target.kind === 'account' && user !== undefined
      ? `/operator/accounts/${user}`
      : domain !== undefined
        ? `/operator/domains/${domain}`
        : undefined;
  const text = targetText(entry);
  return (
    <>
      {to === undefined ? text : <Link to={to}>{text}</Link>}
      {target.name !== undefined && <span class="ope-change quiet">{target.kind}</span>}
    </>
  );
}
