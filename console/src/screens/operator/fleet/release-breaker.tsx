// Lets the changes of status through that the breaker holds back, once asked.

import { admin } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { toast } from '../../../app/toasts.ts';
import { Confirm } from '../../../parts/dialog.tsx';
import { words } from '../../../words/words.ts';

interface ReleaseProps {
  /** Absent: what is held for all domains. */
  readonly parent: string | undefined;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function ReleaseBreaker({ parent, onDone, onClose }: ReleaseProps) {
  const say = words.operator.registries;
  const release = useAction(async () => {
    await admin.POST('/admin/breaker/release', { body: parent === undefined ? {} : { parent } });
    toast(words.operator.done);
    onDone();
  });
  return (
    <Confirm
      title={say.releaseTitle(parent)}
      action={say.releaseNow}
      isDanger
      isBusy={release.isBusy}
      error={release.error}
      onConfirm={() => void release.run()}
      onClose={onClose}
    >
      <p>{say.releaseText}</p>
    </Confirm>
  );
}
