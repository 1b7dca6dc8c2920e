// Allows the removals that a node holds, after confirmation.

import { admin } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { toast } from '../../../app/toasts.ts';
import { Confirm } from '../../../parts/dialog.tsx';
import { operator } from '../../../words/operator.ts';

interface ConfirmNodeProps {
  readonly name: string;
  readonly zones: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function ConfirmNode({ name, zones, onDone, onClose }: ConfirmNodeProps) {
  const say = operator.fleet;
  const confirm = useAction(async () => {
    await admin.POST('/admin/nodes/{name}/confirm', { params: { path: { name } } });
    toast(operator.done);
    onDone();
  });
  return (
    <Confirm
      title={say.confirmTitle(name)}
      action={say.confirmNow}
      isDanger
      typed={name}
      isBusy={confirm.isBusy}
      error={confirm.error}
      onConfirm={() => void confirm.run()}
      onClose={onClose}
    >
      <p>{say.confirmText(zones)}</p>
    </Confirm>
  );
}
