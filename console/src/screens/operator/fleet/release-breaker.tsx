// Allows the status changes that the breaker holds, after confirmation.

import { admin } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { toast } from '../../../app/toasts.ts';
import { Confirm } from '../../../parts/dialog.tsx';
import { operator } from '../../../words/operator.ts';

interface ReleaseProps {
  /** Absent for the hold of all domains. */
  readonly parent: string | undefined;
  /** True if an operator froze the changes. */
  readonly isFrozen: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function ReleaseBreaker({ parent, isFrozen, onDone, onClose }: ReleaseProps) {
  const say = operator.registries;
  const release = useAction(async () => {
    await admin.POST('/admin/breaker/release', { body: parent === undefined ? {} : { parent } });
    toast(operator.done);
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
      <p>{isFrozen ? say.thawText : say.releaseText}</p>
    </Confirm>
  );
}
