// One account: details, access links, keys, and editing.

import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Link } from '../../../app/place.tsx';
import { Arrow } from '../../../parts/arrow.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { AccountBadges } from './account-badges.tsx';
import { AccountEdit } from './account-edit.tsx';
import { AccountKeys } from './account-keys.tsx';
import { AccountLinks } from './account-links.tsx';

const say = operator.accounts;

export default function AccountPage({ id = '' }: { readonly id?: string }) {
  const loaded = useLoad(`operator account ${id}`, (signal) =>
    dataOf(admin.GET('/admin/accounts/{id}', { params: { path: { id: Number(id) } }, signal })),
  );
  const yesOrNo = (is: boolean) => (is ? words.common.yes : words.common.no);
  return (
    <div class="stack">
      <p>
        <Link to="/operator/accounts">
          <Arrow isBack /> {words.frame.operatorPages.accounts}
        </Link>
      </p>
      <Loading of={loaded}>
        {(account) => (
          <div class="stack" key={account.id}>
            <div class="head">
              <h1>{account.email}</h1>
              <AccountBadges account={account} />
            </div>
            <nav class="row" aria-label={account.email}>
              <Link to={`/operator/domains?user=${account.id}`}>{say.see.domains}</Link>
              <Link to={`/operator/tickets?status=all&user=${account.id}`}>{say.see.tickets}</Link>
              <Link to={`/operator/payments?state=all&user=${account.id}`}>{say.see.payments}</Link>
              <Link to={`/operator/audit?by=${account.id}`}>{say.see.audit}</Link>
              <Link to={`/operator/audit?user=${account.id}`}>{say.about}</Link>
            </nav>
            <div class="ope-cards">
              <section class="card">
                <dl class="facts">
                  <dt>{say.facts.id}</dt>
                  <dd>{account.id}</dd>
                  <dt>{say.facts.domains}</dt>
                  <dd>{count(account.domains)}</dd>
                  <dt>{say.facts.confirmed}</dt>
                  <dd>{yesOrNo(account.email_confirmed)}</dd>
                  <dt>{say.facts.password}</dt>
                  <dd>{yesOrNo(account.password_set)}</dd>
                  <dt>{say.facts.otp}</dt>
                  <dd>{yesOrNo(account.otp)}</dd>
                  {account.provider !== undefined && (
                    <>
                      <dt>{say.facts.provider}</dt>
                      <dd>
                        <Link to={`/operator/accounts/${account.provider}`}>{account.provider}</Link>
                      </dd>
                    </>
                  )}
                  <dt>{say.facts.since}</dt>
                  <dd>
                    <Time at={account.created_at} />
                  </dd>
                </dl>
              </section>
              <AccountLinks id={account.id} email={account.email} />
            </div>
            <AccountEdit account={account} onSaved={loaded.set} />
            <AccountKeys id={account.id} />
          </div>
        )}
      </Loading>
    </div>
  );
}
