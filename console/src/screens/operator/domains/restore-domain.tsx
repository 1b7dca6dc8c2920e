// Restores a deleted domain after confirmation.

import { admin } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { usePlace } from '../../../app/place.tsx';
import { toast } from '../../../app/toasts.ts';
import { Confirm } from '../../../parts/dialog.tsx';
import { operator } from '../../../words/operator.ts';

interface RestoreProps {
  readonly id: number;
  readonly name: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function RestoreDomain({ id, name, onDone, onClose }: RestoreProps) {
  const { go } = usePlace();
  const say = operator.domains;
  const restore = useAction(async () => {
    await admin.POST('/admin/domains/{id}/restore', { params: { path: { id } } });
    toast(say.restored(name));
    onClose();
    onDone();
    go(`/operator/domains/${id}`);
  });
  return (
    <Confirm
      title={say.restoreTitle(name)}
      action={say.restore}
      isBusy={restore.isBusy}
      error={restore.error}
      onConfirm={() => void restore.run()}
      onClose={onClose}
    >
      <p>{say.restoreText}</p>
    </Confirm>
  );
}
