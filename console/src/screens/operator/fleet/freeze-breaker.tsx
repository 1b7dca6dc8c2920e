// Freezes status changes of all domains or of those below one zone, with a reason, for some time or until released.

import { useId } from 'preact/hooks';
import { admin, dataOf } from '../../../api/client.ts';
import { serverNowMs } from '../../../api/clock.ts';
import { useAction } from '../../../api/use-action.ts';
import { useDraft } from '../../../app/drafts.ts';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';

const NOTHING = { parent: '', reason: '', hours: '' };
const FIELDS = ['parent', 'reason', 'until'];
/** Body of the request. */
const MAX_REASON = 500;
const HOURS = [1, 6, 24, 72, 168];
const HOUR_MS = 3_600_000;

interface FreezeProps {
  /** Zones that are suggested. */
  readonly parents: readonly string[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function FreezeBreaker({ parents, onDone, onClose }: FreezeProps) {
  const say = operator.registries;
  const known = useId();
  const [wish, setWish, dropWish] = useDraft('operator freeze', NOTHING);
  const freeze = useAction(async () => {
    const parent = wish.parent.trim();
    await dataOf(
      admin.POST('/admin/breaker/freeze', {
        body: {
          reason: wish.reason.trim(),
          ...(parent !== '' && { parent }),
          ...(wish.hours !== '' && {
            until: new Date(serverNowMs() + Number(wish.hours) * HOUR_MS).toISOString(),
          }),
        },
      }),
    );
    dropWish();
    toast(say.frozen);
    onDone();
  });
  return (
    <Dialog title={say.freezeTitle} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void freeze.run();
        }}
      >
        <p>{say.freezeText}</p>
        <TextField
          label={say.freezeReason}
          hint={say.freezeReasonHint}
          autocomplete="off"
          required
          maxLength={MAX_REASON}
          value={wish.reason}
          problem={freeze.error?.of('reason')}
          onInput={(event) => setWish({ ...wish, reason: event.currentTarget.value })}
        />
        <TextField
          label={say.freezeParent}
          hint={say.freezeParentHint}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          list={known}
          value={wish.parent}
          problem={freeze.error?.of('parent')}
          onInput={(event) => setWish({ ...wish, parent: event.currentTarget.value })}
        />
        <datalist id={known}>
          {parents.map((parent) => (
            <option key={parent} value={parent} />
          ))}
        </datalist>
        <SelectField
          label={say.freezeEnd}
          choices={[
            { value: '', label: say.freezeNoEnd },
            ...HOURS.map((hours) => ({ value: String(hours), label: say.freezeFor(hours) })),
          ]}
          value={wish.hours}
          problem={freeze.error?.of('until')}
          onChange={(event) => setWish({ ...wish, hours: event.currentTarget.value })}
        />
        <Failure error={freeze.error} shownFields={FIELDS} />
        <div class="row">
          <Button type="submit" kind="danger" isBusy={freeze.isBusy}>
            {say.freezeNow}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
