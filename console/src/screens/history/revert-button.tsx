// The button that opens the dialog to revert a change, if the person may do that.

import { useState } from 'preact/hooks';
import { domainPath, usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { history } from '../../words/history.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import type { Change } from './change-summary.tsx';
import { RevertDialog } from './revert-dialog.tsx';

export function RevertButton({ change }: { readonly change: Change }) {
  const { name, domain } = useDomain();
  const { go } = usePlace();
  const [isReverting, setReverting] = useState(false);
  const isRevertible = change.records.length > 0 || (change.rules ?? []).length > 0;
  if (!isRevertible || !mayDo(domain, 'records.edit')) return null;
  return (
    <div class="row his-revert">
      <Button aria-label={`${history.revert} ${change.id}`} onClick={() => setReverting(true)}>
        {history.revert}
      </Button>
      {isReverting && (
        <RevertDialog
          change={change}
          onClose={() => setReverting(false)}
          onReverted={(made) => go(domainPath(name, `history/${made.id}`))}
        />
      )}
    </div>
  );
}
