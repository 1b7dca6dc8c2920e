// The members and invites of a domain.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { pageOf, usePages } from '../../api/use-pages.ts';
import { person } from '../../app/session.ts';
import { Note } from '../../parts/failure.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { InviteForm } from './invite-form.tsx';
import { Invites } from './invites.tsx';
import { Members } from './members.tsx';
import './sharing.css';

const AT_ONCE = 50;

export default function SharingPage() {
  const { name, domain } = useDomain();
  const isManaged = person().provider !== undefined;
  const mayManage = mayDo(domain, 'members.manage') && !isManaged;
  const path = { domain: name };
  const members = useLoad(`members ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/members', { params: { path }, signal })),
  );
  const invites = usePages(`invites ${name} ${mayManage}`, async (cursor, signal) =>
    mayManage
      ? pageOf(
          api.GET('/domains/{domain}/invites', {
            params: { path, query: { limit: AT_ONCE, ...(cursor && { cursor }) } },
            signal,
          }),
        )
      : { items: [], cursor: undefined },
  );
  return (
    <div class="stack sharing">
      {isManaged && <Note>{words.sharing.managed}</Note>}
      <div>
        <h2>{words.sharing.members}</h2>
        <Members loaded={members} mayManage={mayManage} />
      </div>
      {mayManage && (
        <div class="stack">
          <h2>{words.sharing.invites}</h2>
          <InviteForm onInvited={() => void invites.loaded.reload()} />
          <Invites pages={invites} />
        </div>
      )}
      <section class="card" aria-labelledby="sharing-roles">
        <h2 id="sharing-roles">{words.sharing.rolesTitle}</h2>
        <dl class="facts">
          {(['viewer', 'editor', 'admin', 'owner'] as const).map((role) => (
            <>
              <dt>{domains.roles[role]}</dt>
              <dd>{words.sharing.roleHints[role]}</dd>
            </>
          ))}
        </dl>
      </section>
    </div>
  );
}
