// Adds a secondary, and creates its TSIG key if requested.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { secondaries } from '../../words/secondaries.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { changeSecondaries } from './change-secondaries.ts';
import { NEW_KEY, NOTHING, problemsOf, secondaryOf } from './secondary-wish.ts';

const text = secondaries;

interface AddSecondaryProps {
  /** Keys of the domain's owner. Undefined for other members, who cannot use keys. */
  readonly keys: readonly Schemas['TsigKey'][] | undefined;
  readonly onKeyMade: (key: Schemas['TsigKey']) => void;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function AddSecondary({ keys, onKeyMade, onDone, onClose }: AddSecondaryProps) {
  const { name, domain } = useDomain();
  const [wish, setWish, dropWish] = useDraft(`secondary ${name}`, NOTHING);
  const choices = [
    ...(keys === undefined ? [] : [{ value: NEW_KEY, label: text.newKey }]),
    ...(keys ?? [])
      .filter(({ imported }) => !imported)
      .map((key) => ({ value: String(key.id), label: key.name })),
    { value: '', label: text.noKey },
  ];
  const key = choices.find(({ value }) => value === wish.key)?.value ?? choices[0]?.value ?? '';
  const makeKey = async () => {
    const made = await dataOf(
      api.POST('/tsig-keys/', { body: { label: wish.label, algorithm: 'hmac-sha256' } }),
    );
    setWish({ ...wish, key: String(made.id) }); // if the next call fails, another attempt uses the same key
    onKeyMade(made);
    return made.id;
  };
  const add = useAction(async () => {
    const keyId = key === NEW_KEY ? await makeKey() : key === '' ? null : Number(key);
    await changeSecondaries(name, (before) => [secondaryOf(wish, keyId), ...before]);
    dropWish();
    onDone();
  });
  const { of: problems, shown } = problemsOf(add.error?.problem.fields, wish);
  return (
    <Dialog title={text.add} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void add.run();
        }}
      >
        <p>{text.primaries(domain.svc_ns)}</p>
        <TextField
          label={text.addresses}
          hint={text.hints.addresses}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required={wish.notify}
          value={wish.addresses}
          problem={problems.addresses}
          onInput={(event) => setWish({ ...wish, addresses: event.currentTarget.value })}
        />
        <TextField
          label={text.port}
          type="number"
          min={1}
          max={65_535}
          required
          value={wish.port}
          problem={problems.port}
          onInput={(event) => setWish({ ...wish, port: event.currentTarget.value })}
        />
        <SelectField
          label={text.key}
          hint={keys === undefined ? text.hints.othersKeys : text.hints.key}
          choices={choices}
          value={key}
          problem={problems.tsig_key}
          onChange={(event) => setWish({ ...wish, key: event.currentTarget.value })}
        />
        {key === NEW_KEY && (
          <TextField
            label={text.label}
            hint={text.hints.label}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxLength={32}
            required
            value={wish.label}
            problem={problems.label}
            onInput={(event) => setWish({ ...wish, label: event.currentTarget.value })}
          />
        )}
        <TextField
          label={text.networks}
          hint={key === '' ? text.hints.networks : text.hints.networksOfKey}
          autocomplete="off"
          spellcheck={false}
          value={wish.networks}
          problem={problems.networks}
          onInput={(event) => setWish({ ...wish, networks: event.currentTarget.value })}
        />
        <CheckField
          label={text.transfer}
          checked={wish.transfer}
          onChange={(event) => setWish({ ...wish, transfer: event.currentTarget.checked })}
        />
        <CheckField
          label={text.notify}
          checked={wish.notify}
          onChange={(event) => setWish({ ...wish, notify: event.currentTarget.checked })}
        />
        <Failure error={add.error} shownFields={shown} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={add.isBusy}>
            {text.add}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
