// Creates an API key with limited permissions.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { account } from '../../words/account.ts';
import { endOfKey, KEY_DAYS, listed, problemOfList } from './key-wish.ts';

const NOTHING = { name: '', isReadOnly: false, days: '365', domains: '', names: '', types: '' };
const LISTS = ['domains', 'names', 'types'] as const;
const text = account.keys;

interface NewKeyProps {
  readonly onClose: () => void;
  readonly onMade: (key: Schemas['Key']) => void;
}

export function NewKey({ onClose, onMade }: NewKeyProps) {
  const [wish, setWish, dropWish] = useDraft('new-key', NOTHING);
  const make = useAction(async () => {
    const end = endOfKey(wish.days, serverNowMs());
    const key = await dataOf(
      api.POST('/users/me/keys', {
        body: {
          name: wish.name,
          read_only: wish.isReadOnly,
          ...(end !== undefined && { expires_at: end }),
          ...Object.fromEntries(
            LISTS.map((list) => [list, listed(wish[list])] as const).filter(([, items]) => items.length > 0),
          ),
        },
      }),
    );
    dropWish();
    onMade(key);
  });
  return (
    <FormDialog
      title={text.make}
      action={text.make}
      isBusy={make.isBusy}
      error={make.error}
      shownFields={['name', 'expires_at']}
      onSubmit={() => void make.run()}
      onClose={onClose}
    >
      <TextField
        label={text.for}
        hint={text.forHint}
        maxLength={100}
        required
        value={wish.name}
        problem={make.error?.of('name')}
        onInput={(event) => setWish({ ...wish, name: event.currentTarget.value })}
      />
      <SelectField
        label={text.ends}
        value={wish.days}
        problem={make.error?.of('expires_at')}
        onChange={(event) => setWish({ ...wish, days: event.currentTarget.value })}
        choices={[
          ...KEY_DAYS.map((days) => ({ value: String(days), label: text.days(days) })),
          { value: '', label: text.never },
        ]}
      />
      <CheckField
        label={text.readOnly}
        checked={wish.isReadOnly}
        onChange={(event) => setWish({ ...wish, isReadOnly: event.currentTarget.checked })}
      />
      <details open={LISTS.some((list) => wish[list] !== '')}>
        <summary>{text.narrow}</summary>
        <div class="stack">
          {LISTS.map((list) => (
            <TextField
              key={list}
              label={text[list]}
              hint={text.hints[list]}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              value={wish[list]}
              problem={problemOfList(make.error?.problem.fields, list, listed(wish[list]))}
              onInput={(event) => setWish({ ...wish, [list]: event.currentTarget.value })}
            />
          ))}
        </div>
      </details>
    </FormDialog>
  );
}
