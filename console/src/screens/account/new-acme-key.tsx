// Creates a key that may write only the challenges of certificates for some names.

import { api, dataOf } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { useDraft } from '../../app/drafts.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { account } from '../../words/account.ts';
import type { ShownAcmeKey } from './acme-key.tsx';
import { certificateNames, challengeOf, domainOf } from './certificate-names.ts';
import { findDomain } from './find-domain.ts';
import { endOfKey, KEY_DAYS, problemOfList } from './key-wish.ts';

const NOTHING = { names: '', name: '', days: '' };
/** Domains that are offered. Names in other domains can be typed. */
const MOST_OFFERED = 200;
/** Characters in the name of a key. */
const MOST_NAME = 100;
const text = account.keys;

interface NewAcmeKeyProps {
  readonly onClose: () => void;
  readonly onMade: (made: ShownAcmeKey) => void;
}

export function NewAcmeKey({ onClose, onMade }: NewAcmeKeyProps) {
  const [wish, setWish, dropWish] = useDraft('new-acme-key', NOTHING);
  const query = { dns_mode: 'managed', limit: MOST_OFFERED } as const;
  const domains = useLoad('acme domains', (signal) =>
    dataOf(api.GET('/domains/', { params: { query }, signal })),
  );
  const names = certificateNames(wish.names);
  const challenges = [...new Set(names.map(challengeOf))];
  const purpose = wish.name.trim() || text.acme.purpose(names[0] ?? '').slice(0, MOST_NAME);
  const make = useAction(async () => {
    const found = await Promise.all(
      names.map(async (name) => domainOf(name, domains.data ?? []) ?? (await findDomain(name))),
    );
    const end = endOfKey(wish.days, serverNowMs());
    const key = await dataOf(
      api.POST('/users/me/keys', {
        body: {
          name: purpose,
          read_only: false,
          domains: [...new Set(found.map(({ name }) => name))],
          names: challenges,
          types: ['TXT'],
          ...(end !== undefined && { expires_at: end }),
        },
      }),
    );
    dropWish();
    onMade({ key, names });
  });
  const { problem } = make.error ?? {};
  const setNames = (typed: string) => {
    make.clear();
    setWish({ ...wish, names: typed });
  };
  return (
    <FormDialog
      title={text.acme.make}
      action={text.make}
      isBusy={make.isBusy}
      error={make.error}
      shownFields={['name', 'expires_at']}
      onSubmit={() => void make.run()}
      onClose={onClose}
    >
      <p>{text.acme.what}</p>
      <TextField
        label={text.acme.names}
        hint={text.acme.namesHint}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        required
        value={wish.names}
        problem={problemOfList(problem?.fields, 'names', challenges)}
        onInput={(event) => setNames(event.currentTarget.value)}
      />
      {domains.data !== undefined && domains.data.length > 0 && (
        <SelectField
          label={text.acme.add}
          value=""
          onChange={(event) => {
            const added = certificateNames(`${wish.names} ${event.currentTarget.value}`);
            setNames(added.join(', '));
          }}
          choices={[
            { value: '', label: text.acme.choose },
            ...domains.data.map(({ name, name_unicode }) => ({ value: name, label: name_unicode })),
          ]}
        />
      )}
      {names.length > 0 && (
        <div>
          <p class="quiet">{text.acme.writes}</p>
          <ul class="plain">
            {challenges.map((challenge) => (
              <li key={challenge}>
                <code>{challenge}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      <TextField
        label={text.for}
        hint={text.acme.forHint}
        placeholder={names.length === 0 ? undefined : purpose}
        maxLength={MOST_NAME}
        value={wish.name}
        problem={make.error?.of('name')}
        onInput={(event) => setWish({ ...wish, name: event.currentTarget.value })}
      />
      <SelectField
        label={text.ends}
        hint={text.acme.endsHint}
        value={wish.days}
        problem={make.error?.of('expires_at')}
        onChange={(event) => setWish({ ...wish, days: event.currentTarget.value })}
        choices={[
          { value: '', label: text.never },
          ...KEY_DAYS.map((days) => ({ value: String(days), label: text.days(days) })),
        ]}
      />
    </FormDialog>
  );
}
