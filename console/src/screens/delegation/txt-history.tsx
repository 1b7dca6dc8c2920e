// The lookups of the TXT record over time, newest first.

import { useEffect } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';
import { domainPath, Link } from '../../app/place.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Time } from '../../parts/time.tsx';
import { delegation } from '../../words/delegation.ts';

type Look = Schemas['VerificationLook'];
const text = delegation;

/** `news` increases when there is a new entry. */
export function TxtHistory({ name, news }: { readonly name: string; readonly news: number }) {
  const looks = useLoad(`looks ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/verifications', { params: { path: { domain: name } }, signal })),
  );
  useEffect(() => {
    if (news > 0) void looks.reload();
  }, [news]);
  return (
    <section class="card delegation-history">
      <h2>{text.history.title}</h2>
      <Loading of={looks}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">{text.txt.noLooks}</p>
          ) : (
            <ol class="plain delegation-log">
              {all.map((look) => (
                <Entry key={look.id} name={name} look={look} />
              ))}
            </ol>
          )
        }
      </Loading>
    </section>
  );
}

function Entry({ name, look }: { readonly name: string; readonly look: Look }) {
  const { verdict, finished_at: at, kind, found, asked, message, change_id: change } = look;
  const tone = verdict === 'verified' ? 'good' : verdict === 'unknown' ? 'silent' : 'bad';
  return (
    <li class={`delegation-entry ${tone} ${change === undefined ? '' : 'transition'}`}>
      <span class="delegation-when">
        <Time at={at} />
      </span>
      <div>
        <strong>{text.txt.verdicts[verdict]}</strong>
        {change !== undefined && (
          <span class="delegation-became">
            <Link to={domainPath(name, `history/${change}`)}>{text.txt.became}</Link>
          </span>
        )}
        <span class="quiet">{[text.txt.found(found, asked), text.history.kinds[kind]].join(' · ')}</span>
        <p>{message}</p>
      </div>
    </li>
  );
}
