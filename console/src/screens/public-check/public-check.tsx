// A public page that shows the delegation of any name, from the root down. It uses no session.

import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { Time } from '../../parts/time.tsx';
import { delegation, publicCheck } from '../../words/delegation.ts';
import '../delegation/delegation.css';
import './public-check.css';
import { type AnswerGroup, groupAnswers } from '../delegation/group-answers.ts';
import { nameOf, Server, Way } from '../delegation/picture.tsx';
import { wayOf } from '../delegation/read-progress.ts';
import { ServerTable } from '../delegation/server-table.tsx';
import { askPublicCheck, loadPublicCheck, type PublicCheck } from './public-client.ts';
import { publicPath } from './public-place.ts';

const text = publicCheck;

export default function PublicCheckPage({ name }: { readonly name: string }) {
  useEffect(() => {
    document.title = text.pageTitle(name);
  }, [name]);
  return (
    <main class="public-check stack delegation">
      <h1>{name === '' ? text.title : text.titleOf(name)}</h1>
      <p class="quiet">{text.lead}</p>
      {name === '' ? <OtherName name="" /> : <Look name={name} />}
    </main>
  );
}

function Look({ name }: { readonly name: string }) {
  const latest = useLoad(`public ${name}`, (signal) => loadPublicCheck(name, signal));
  const look = useAction(async () => latest.set(await askPublicCheck(name)));
  const { data } = latest;
  return (
    <>
      <Failure error={latest.error} />
      {data !== undefined && (
        <section class="card delegation-picture" aria-busy={look.isBusy}>
          <div class="row spread">
            <h2>{delegation.picture.title}</h2>
            <span class="row">
              <span class="quiet" aria-live="polite">
                {look.isBusy ? (
                  delegation.picture.live
                ) : data.check === undefined ? null : (
                  <>
                    {delegation.picture.looked} <Time at={data.check.checked_at} />
                  </>
                )}
              </span>
              <Button kind="main" isBusy={look.isBusy} onClick={() => void look.run()}>
                {text.button}
              </Button>
            </span>
          </div>
          <Failure error={look.error} />
          {data.check === undefined ? (
            <p class="quiet">{text.none}</p>
          ) : (
            <Picture check={data.check} isDim={look.isBusy} />
          )}
        </section>
      )}
      <OtherName name={name} />
    </>
  );
}

type Check = NonNullable<PublicCheck['check']>;

function Picture({ check, isDim }: { readonly check: Check; readonly isDim: boolean }) {
  const zones = wayOf(check.walk);
  const groups = groupAnswers(check.evidence, []);
  return (
    <>
      <div class={`delegation-way ${isDim ? 'delegation-dim' : ''}`}>
        <Way zones={zones} security={undefined} parentHint={text.zone} />
        <div class="delegation-middle">
          <h3>{delegation.picture.servers(nameOf(check.parent ?? zones.at(-1) ?? '.'))}</h3>
          {groups.length === 0 ? (
            <div class="note warn">
              <p>{delegation.picture.noServers}</p>
              {check.failure !== undefined && (
                <p class="quiet">{`${nameOf(check.failure.zone)}: ${check.failure.message}`}</p>
              )}
            </div>
          ) : (
            <ol class="plain delegation-groups">
              {groups.map((group) => (
                <Group key={group.key} group={group} />
              ))}
            </ol>
          )}
          {groups.filter(({ tone }) => tone !== 'silent').length > 1 && (
            <p class="note warn">{text.disagree}</p>
          )}
        </div>
      </div>
      {check.evidence.length > 0 && (
        <details>
          <summary>{delegation.picture.details}</summary>
          <ServerTable servers={check.evidence} />
        </details>
      )}
    </>
  );
}

function Group({ group }: { readonly group: AnswerGroup }) {
  const { verdict, ns, servers } = group;
  const isDelegated = ns.length > 0;
  const tone = verdict === 'silent' ? 'silent' : isDelegated ? 'good' : 'bad';
  return (
    <li class={`delegation-band ${tone}`}>
      <div class="delegation-group">
        <ul class="plain delegation-servers">
          {servers.map((server) => (
            <Server key={`${server.server} ${server.address}`} server={server} />
          ))}
        </ul>
        <div class="delegation-answer">
          <p class="delegation-verdict">{isDelegated ? text.delegated : delegation.verdicts[verdict]}</p>
          {isDelegated && (
            <ul class="plain delegation-names">
              {ns.map((name) => (
                <li key={name}>
                  <span class="delegation-name">{name}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
    </li>
  );
}

function OtherName({ name }: { readonly name: string }) {
  const [typed, setTyped] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = typed.trim();
    if (wanted !== '') location.assign(publicPath(wanted));
  };
  return (
    <form class="row" onSubmit={submit}>
      <TextField
        label={name === '' ? text.name : text.other}
        value={typed}
        maxLength={1000}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Button type="submit">{text.open}</Button>
    </form>
  );
}
